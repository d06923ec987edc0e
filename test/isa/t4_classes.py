# SPDX-License-Identifier: MIT
"""Holds the SPARC T4's instruction classes to the manual's lists.

t4_classes.py ISA-DUMP ASSEMBLER INSTRUCTIONS.toml SPARC_ROWS.inc

Every name of footnotes 6 to 9 of TABLE 10-2 is assembled, as are every mnemonic
of sparc_rows.inc (V9, VIS 1 and 2) and those that came with the T3 and T4 (VIS
3, fused multiply-add, compare-and-branch, cryptography). What no list names
goes with its family, by its mnemonic here, from its bits there. Exits 77, a
skipped test, if the assembler is not installed.
"""
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib

CLASSES = ['branch', 'fgu_crypto', 'load', 'store', 'spr_ring', 'other']

# No assembler and no public table of opcodes has these two.
NO_ENCODING = {'HALT', 'JPRIV'}

# What the manual's names are to the assembler, where not their own letters.
SPELLED = {
    'RDASI': 'rd %asi, %g1', 'RDASR': 'rd %pcr, %g1',
    'RDCCR': 'rd %ccr, %g1', 'RDFPRS': 'rd %fprs, %g1',
    'RDGSR': 'rd %gsr, %g1', 'RDHPR': 'rdhpr %hpstate, %g1',
    'RDPR': 'rdpr %tl, %g1', 'RDTICK': 'rd %tick, %g1', 'RDY': 'rd %y, %g1',
    'RDPC': 'rd %pc, %g1', 'RDCFR': 'rd %asr26, %g1',
    'WRASI': 'wr %g1, 4, %asi', 'WRASR': 'wr %g1, 4, %softint',
    'WRCCR': 'wr %g1, 4, %ccr', 'WRFPRS': 'wr %g1, 4, %fprs',
    'WRGSR': 'wr %g1, 4, %gsr', 'WRHPR': 'wrhpr %g1, 4, %hpstate',
    'WRPR': 'wrpr %g1, 4, %tl', 'WRY': 'wr %g1, 4, %y',
    'WRPAUSE': 'pause 8', 'WRCFR': 'wr %g1, 4, %asr26',
    'FLUSH': 'flush %g1 + 8', 'FLUSHW': 'flushw', 'STBAR': 'stbar',
    'MEMBAR': 'membar #StoreLoad', 'MEMBAR #Lookaside': 'membar #Lookaside',
    'MEMBAR #LoadStore': 'membar #LoadStore',
    'LDF': 'ld [%g1], %f4', 'STF': 'st %f4, [%g1]',
    'LDDF': 'ldd [%g1], %f4', 'STDF': 'std %f4, [%g1]',
    'LDFSR': 'ld [%g1], %fsr', 'STFSR': 'st %fsr, [%g1]',
    'LDFA': 'lda', 'STFA': 'sta', 'LDDFA': 'ldda', 'STDFA': 'stda',
    'CASA': 'casa [%g1] 0x80, %g2, %g3', 'CASXA': 'casxa [%g1] 0x80, %g2, %g3',
    'LDSTUB': 'ldstub [%g1], %g2', 'LDSTUBA': 'ldstuba [%g1] 0x80, %g2',
    'SWAP': 'swap [%g1], %g2', 'SWAPA': 'swapa [%g1] 0x80, %g2',
    'PREFETCH': 'prefetch [%g1], #one_read',
    'PREFETCHA': 'prefetcha [%g1] 0x80, #one_read',
    'SETHI_%G0': 'sethi %hi(0xfc000), %g0', 'NOP': 'nop',
    'ADDCcc': 'addccc %g1, %g2, %g3', 'ADDXCcc': 'addxccc %g1, %g2, %g3',
    'SUBCcc': 'subccc %g1, %g2, %g3', 'INVALIDW': 'invalw',
    'MOVdTOX': 'movdtox %f4, %g1', 'MOVxTOd': 'movxtod %g1, %f4',
    'MOVFN': 'movn %fcc0, %g1, %g2', 'MOVR': 'movrz %g1, %g2, %g3',
    'SIAM': 'siam 1', 'TN': 'tn %icc, 5',
    'Bicc': 'bne . + 64', 'BPcc': 'bne,pt %xcc, . + 64',
    'BPr': 'brz %g1, . + 64', 'CALL': 'call . + 64',
    'CBcc': 'cwbne %g1, %g2, . + 64', 'FBfcc': 'fbne . + 64',
    'FBPfcc': 'fbne,pt %fcc1, . + 64', 'JMPL': 'jmpl %g1 + 8, %g2',
    'RETURN': 'return %i7 + 8',
}
PLAIN = 'DONE RETRY SAVED RESTORED ALLCLEAN OTHERW NORMALW'.split()

CONDITIONS = ('ne e g le ge l gu leu cc cs pos neg vc vs').split()
FUSED = 'madd msub nmadd nmsub'.split()
NEWER = {
    'branch': [f'c{x}b{c} %g1, {b}, . + 64'
               for x in 'wx' for c in CONDITIONS for b in ('%g2', '5')],
    'other': ['addxc %g1, %g2, %g3', 'movstouw %f3, %g1', 'movstosw %f3, %g1',
              'movwtos %g1, %f3'],
    'spr_ring': ['wr %g1, 4, %pause'],
    'fgu_crypto': [
        # VIS 3
        'cmask8 %g1', 'cmask16 %g1', 'cmask32 %g1', 'lzcnt %g1, %g2',
        *(f'{n} %g1, %g2, %g3' for n in ('umulxhi', 'xmulx', 'xmulxhi')),
        'pdistn %f2, %f4, %g1',
        *(f'fslas{n} %f2, %f4, %f6' for n in (16, 32)),
        *(f'f{n} %f2, %f4, %f6' for n in
          'sll16 sll32 srl16 srl32 sra16 sra32 chksm16 mean16 padd64 psub64 '
          'padds16 padds32 psubs16 psubs32 haddd hsubd nhaddd naddd '
          'nmuld'.split()),
        *(f'f{n} %f1, %f3, %f5' for n in
          'padds16s padds32s psubs16s psubs32s hadds hsubs nhadds nadds '
          'nmuls'.split()),
        'fnsmuld %f1, %f3, %f4',
        'flcmps %fcc1, %f1, %f3', 'flcmpd %fcc1, %f2, %f4',
        *(f'fucmp{n} %f2, %f4, %g1' for n in ('le8', 'ne8', 'gt8', 'eq8')),
        # fused multiply-add
        *(f'f{n}s %f1, %f3, %f5, %f7' for n in FUSED),
        *(f'f{n}d %f2, %f4, %f6, %f8' for n in FUSED),
        *(f'fpmaddx{n} %f2, %f4, %f6, %f8' for n in ('', 'hi')),
        # cryptography
        *(f'aes_{n} %f2, %f4, %f6, %f8' for n in
          'eround01 eround23 dround01 dround23 eround01_l eround23_l '
          'dround01_l dround23_l'.split()),
        'aes_kexpand0 %f2, %f4, %f6', 'aes_kexpand1 %f2, %f4, 5, %f6',
        'aes_kexpand2 %f2, %f4, %f6',
        'des_round %f2, %f4, %f6, %f8', 'des_ip %f2, %f4',
        'des_iip %f2, %f4', 'des_kexpand %f2, 5, %f4',
        'camellia_f %f2, %f4, %f6, %f8', 'camellia_fl %f2, %f4, %f6',
        'camellia_fli %f2, %f4, %f6', 'kasumi_fi_xor %f2, %f4, %f6, %f8',
        'kasumi_fi_fi %f2, %f4, %f6', 'kasumi_fl_xor %f2, %f4, %f6, %f8',
        'crc32c %f2, %f4, %f6', 'md5', 'sha1', 'sha256', 'sha512',
        'mpmul 5', 'montmul 5', 'montsqr 5',
    ],
}

# Rules T4-R43 to T4-R48 beyond the lists: what a register number or a mask
# decides.
CORNERS = {
    'store': ['membar #Sync', 'membar #StoreStore', 'membar #MemIssue',
              'membar #LoadStore | #StoreLoad', 'stb %g1, [%g2]', 'sth %g1, [%g2]',
              'stx %fsr, [%g1]', 'stxa %g1, [%g2] %asi'],
    'load': ['ldub [%g1], %g2', 'ldx [%g1], %fsr', 'ldxa [%g1] %asi, %g2',
             'rd %stick, %g1', 'rd %softint, %g1'],
    'spr_ring': ['wr %g1, 4, %sys_tick', 'wrpr %g1, 4, %pstate',
                 'ldxa [%g1] 0x42, %g2', 'stxa %g2, [%g1] 0x74'],
    'other': ['membar #LoadStore | #Lookaside', 'sir 5', 'sethi 5, %g1',
              'ta %icc, 5', 'mulx %g1, %g2, %g3', 'sll %g1, 5, %g2',
              'prefetch [%g1], 20', 'casxa [%g1] %asi, %g2, %g3'],
}


def assembly(name):
    """The manual's name of an instruction as a line of assembly."""
    if name in SPELLED:
        return SPELLED[name]
    if name in PLAIN:
        return name.lower()
    stem, _, asi = name.partition('_0X')
    line = SPELLED.get(stem, stem.lower())
    if stem[:2] in ('LD', 'ST'):
        where = f'[%g1] 0x{asi}' if asi else '[%g1]'
        what = '%f4' if stem.endswith('FA') else '%g2'
        return (f'{line} {where}, {what}' if stem[:2] == 'LD' else
                f'{line} {what}, {where}')
    return f'{line} %g1, %g2, %g3'


def family(text, branches):
    """The class of an instruction that came with V9, VIS 1 or VIS 2."""
    name, _, operands = text.partition(' ')
    name = name.split(',')[0]
    if name in branches:
        return 'branch'
    if re.match(r'ldstub|swap|cas|prefetch', name):
        return 'other'
    if re.match(r'ld|st(?!bar)|clrx?$', name) and '[' in operands:
        return 'load' if name[0] == 'l' else 'store'
    if name in ('flush', 'stbar'):
        return 'store'
    if name == 'membar':
        return ('other' if re.fullmatch(r'(#LoadStore|#Lookaside)', operands)
                else 'store')
    if name in ('rdpr', 'rdhpr', 'rd'):
        return 'other' if re.match(r'%(pc|asr26)\b', operands) else 'load'
    if name in ('wrpr', 'wrhpr', 'wr'):
        return 'other' if operands.endswith('%asr26') else 'spr_ring'
    if re.match(r'f(?!lushw)|pdist|bshuffle|edge|array|alignaddr|bmask|'
                r'shutdown', name):
        return 'fgu_crypto'
    return 'other'


def rows(path):
    """The assembly in the comments of sparc_rows.inc, bare words left out."""
    with open(path, encoding='ascii') as file:
        return re.findall(r'^\w+\(.*\), /\* ([^.].*) \*/$', file.read(),
                          re.M)


def cases(lists, inc):
    """(origin, assembly, class, whether it is a block access; None: either)."""
    blocks = set(lists['block']['names'])
    for name in CLASSES:
        for entry in lists[name]['names']:
            if entry not in NO_ENCODING:
                yield (f'{name}: {entry}', assembly(entry), name,
                       entry in blocks)
        for text in NEWER.get(name, []) + CORNERS.get(name, []):
            yield 'a corner', text, name, False
    for kind in ('atomic', 'prefetch', 'sethi'):
        for entry in lists[kind]['names']:
            text = entry if entry.startswith('sethi') else assembly(entry)
            yield f'{kind}: {entry}', text, 'other', False
    branches = re.compile(r'(b|fb|br)(a|n|u|o|z|lz|gz|' +
                          '|'.join(CONDITIONS) +
                          '|lez|nz|gez|u?[gl]e?|lg|ue|uge|ule|ug|ul)$|'
                          r'(call|jmpl?|retl?|return|rett|iprefetch)$')
    names = {text.split()[0].split(',')[0] for text in inc}
    jumps = {name for name in names if branches.match(name)}
    for text in inc:
        yield 'sparc_rows.inc', text, family(text, jumps), None


def assemble(assembler, lines):
    """The words of the lines, as the assembler's listing has them."""
    with tempfile.TemporaryDirectory() as folder:
        source, listing = f'{folder}/t4.s', f'{folder}/t4.lst'
        with open(source, 'w', encoding='ascii') as file:
            file.writelines(f'{line}\n' for line in lines)
        subprocess.run([assembler, '-Av9m', f'-al={listing}', '-o',
                        '/dev/null', source], check=True,
                       stderr=subprocess.DEVNULL)
        line = re.compile(r' *\d+ [0-9a-f]{4} ([0-9A-F]{8})\s*\t', re.M)
        with open(listing, encoding='ascii') as file:
            return line.findall(file.read())


def main():
    dump, assembler, lists, inc = sys.argv[1:]
    if not shutil.which(assembler):
        return 77
    with open(lists, 'rb') as file:
        lists = tomllib.load(file)['instructions']
    todo = list(cases(lists, rows(inc)))
    words = assemble(assembler, [text for _, text, _, _ in todo])
    assert len(words) == len(todo), (len(words), len(todo))
    out = subprocess.run([dump, 'sparc64'], text=True, check=True,
                         input=''.join(f'10000000 {w}\n' for w in words),
                         capture_output=True).stdout.splitlines()
    wrong = 0
    for (origin, text, want, block), word, line in zip(todo, words, out):
        got, is_block = (int(n) for n in line.split()[-2:])
        if CLASSES[got] != want or block not in (None, bool(is_block)):
            wrong += 1
            print(f'{origin}: {word} {text}: {CLASSES[got]}, block '
                  f'{is_block}; expected {want}, {block}')
    print(f'{len(todo)} instructions, {wrong} wrong')
    return bool(wrong) or len(todo) < 800


if __name__ == '__main__':
    sys.exit(main())
