# SPDX-License-Identifier: MIT
"""Compares insn_decode() with objdump over many instructions.

crosscheck.py sparc64 ISA-DUMP OBJDUMP [FILE...]
crosscheck.py mips64|mips64el ISA-DUMP OBJDUMP [FILE...]
crosscheck.py aarch64 ISA-DUMP OBJDUMP [FILE...]
crosscheck.py riscv64 ISA-DUMP OBJDUMP [FILE...]
crosscheck.py x86-64 ISA-DUMP OBJDUMP FILE...
crosscheck.py rows ROWS ASSEMBLER [OPTION...]

For SPARC and MIPS: every opcode with several settings of its other fields,
random words, and the code of the given files. What class, branch kind, target
and access an instruction has follows from objdump's text here, from the bits
there. For RISC-V, whose decoder writes text, every word of 16 bits, and the text
and what insn_operands() says too.
For x86-64: lengths, branch kinds and targets, and what the text says about
memory and registers, over the code of the given files.
For rows: assembles the comments of an .inc of rows and compares
the bytes; a difference in bytes is a wrong comment or a wrong row.

Exits 77, a skipped test, if the tool is not installed, or has no code to read.
"""
import functools
import itertools
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

(BRANCH, FGU, LOAD, STORE, SETHI, OTHER, ATOMIC) = range(7)
(B_NONE, B_COND, B_NEVER, B_JUMP, B_CALL, B_INDIRECT, B_INDIRECT_CALL,
 B_RETURN) = range(8)
(A_NONE, A_LOAD, A_STORE, A_UPDATE, A_ATOMIC, A_MIXED, A_REPEATED) = range(7)
(F_DELAY, F_ANNUL, F_SAVE, F_RESTORE, F_FLUSHW, F_SYSCALL, F_PREFETCH, F_FP,
 F_MEMBAR, F_ILLEGAL, F_REPEAT_PAIR, F_SHARED_FPU, F_MULDIV,
 F_CONDITIONAL, F_FLOAT, F_NO_FAULT, F_PAUSE) = (1 << n for n in range(17))

# Netra DPS profiler, TABLE 3-2, footnote 3.
SHARED_FPU = ('fadds faddd fsubs fsubd fmuls fmuld fdivs fdivd fsmuld fstox '
              'fdtox fxtos fxtod fitos fdtos fitod fstod fstoi fdtoi fcmps '
              'fcmpd fcmpes fcmped').split()

SEED = 20240229


def disassemble(objdump, args, path):
    """Yields (address, bytes, text) of each instruction in a file."""
    out = subprocess.run([objdump, '-d', '-w', '-z', *args, path], text=True,
                         check=True, capture_output=True).stdout
    line = re.compile(r'\s*([0-9a-f]+):\t((?:(?:[0-9a-f]{2})+ )+)\s*\t?(.*)')
    for match in map(line.match, out.splitlines()):
        if match:
            yield (int(match[1], 16), match[2].replace(' ', ''),
                   re.sub(r'\s*[!#] .*', '', match[3]).strip())


def decode(dump, isa, rows):
    """insn_decode() of (address, bytes, text) rows, as lists of numbers."""
    text = ''.join(f'{address:x} {code}\n' for address, code, _ in rows)
    out = subprocess.run([dump, isa], input=text, text=True, check=True,
                         capture_output=True).stdout
    return [[int(n) for n in line.split()] for line in out.splitlines()]


# --- SPARC ---------------------------------------------------------------

CONDITIONS = ('b ba bn bne be bg ble bge bl bgu bleu bcc bcs bpos bneg bvc bvs '
              'bz bnz bgeu blu '
              'fb fba fbn fbu fbg fbug fbl fbul fblg fbne fbe fbue fbge fbuge '
              'fble fbule fbo brz brlez brlz brnz brgz brgez').split()
INTEGER = ('add addcc addc addccc sub subcc subc subccc and andcc andn andncc '
           'or orcc orn orncc xor xorcc xnor xnorcc mulx umul umulcc smul '
           'smulcc sdivx udivx udiv udivcc sdiv sdivcc mulscc taddcc taddcctv '
           'tsubcc tsubcctv sll srl sra sllx srlx srax popc mov cmp tst not '
           'neg inc inccc dec deccc btst bset bclr btog clr clruw signx '
           'sethi nop save restore flush flushw illtrap unimp '
           'rd wr rdpr wrpr rdhpr wrhpr membar stbar sir saved restored '
           'allclean otherw normalw invalw done retry '
           'alignaddr alignaddrl bmask array8 array16 array32 shutdown').split()
INTEGER += [f'edge{n}{x}' for n in (8, 16, 32)
            for x in ('', 'cc', 'l', 'lcc', 'n', 'ln')]
INTEGER += ['mov' + c for c in
            'a n ne e g le ge l gu leu cc cs pos neg vc vs u ug ul lg ue uge '
            'ule o re rz rlez rlz rne rnz rgz rgez z nz geu lu'.split()]
TRAPS = ['t' + c for c in
         'a n ne e g le ge l gu leu cc cs pos neg vc vs'.split()]
SIZES = {'ub': 1, 'sb': 1, 'b': 1, 'uh': 2, 'sh': 2, 'h': 2, '': 4, 'sw': 4,
         'w': 4, 'uw': 4, 'd': 8, 'tw': 8, 'x': 8}
PLAIN_ASI = ('#ASI_P', '#ASI_S', '#ASI_PNF', '#ASI_SNF', '#ASI_P_L',
             '#ASI_S_L', '#ASI_PNF_L', '#ASI_SNF_L')
def sparc_reserved(word):
    """True for what objdump takes and a T2 does not."""
    op, op2, op3 = word >> 30, word >> 22 & 7, word >> 19 & 63
    rd, rs1, opf_low = word >> 25 & 31, word >> 14 & 31, word >> 5 & 31
    no_asr = {1, 7, 8, 9, 10, 11, 12, 13, 14, 27, 28, 29, 30, 31}
    if op == 0:
        # Coprocessor branches of V8; BPcc on reserved condition codes.
        return op2 == 7 or (op2 == 1 and word >> 20 & 1)
    if op == 2:
        return {
            0x28: rs1 in no_asr | {20, 21},
            0x29: rs1 in (28, 29, 30),       # hstick_offset, hstick_enable
            0x2a: rs1 == 15,                 # fq
            0x30: rd in no_asr | {4, 5},
            0x32: rd in (15, 31),            # fq, ver
            0x33: rd in (28, 29, 30),
            0x35: opf_low in (5, 6, 7) and word >> 13 & 1,  # FMOVr's zero bit
            0x3a: word >> 11 & 1,            # condition codes of Tcc
        }.get(op3, False)
    if op == 3:
        odd_pair = op3 in (0x03, 0x07, 0x13, 0x17) and rd & 1
        return odd_pair or (op3 in (0x2d, 0x3d) and 5 <= rd <= 15)
    return False


def sparc_words():
    """Every opcode with zero and random fields, then random words."""
    rng = random.Random(SEED)
    shapes = [(op << 30 | op3 << 19, 0xc1f80000)
              for op in (2, 3) for op3 in range(64)] * 12
    shapes += [(0x80000000 | op3 << 19 | opf << 5, 0xc1f83fe0)
               for op3 in (0x34, 0x35, 0x36) for opf in range(512)]
    shapes += [(top << 22, 0xffc00000) for top in range(256)] * 8
    shapes += [(op2 << 22, 0xc1c00000) for op2 in range(8)] * 200
    for value, mask in shapes:
        for _ in range(8):
            word = rng.getrandbits(32)
            for field in (0x3e000000, 0x0007c000, 0x00002000, 0x00001fe0,
                          0x0000001f):
                if rng.getrandbits(1):
                    word &= ~field
            yield word & ~mask | value
    for _ in range(100000):
        yield rng.getrandbits(32)


def sparc_branch(word, name, operands):
    """(kind, flags) of a branch, or None."""
    stem, *marks = name.split(',')
    if stem == 'iprefetch':  # bn,pt %xcc
        return B_NEVER, F_DELAY
    annul = F_ANNUL if 'a' in marks else 0
    if stem in CONDITIONS:
        kind = {'b': B_JUMP, 'ba': B_JUMP, 'fb': B_JUMP, 'fba': B_JUMP,
                'bn': B_NEVER, 'fbn': B_NEVER}.get(stem, B_COND)
        delay = 0 if annul and kind != B_COND else F_DELAY
        return kind, annul | delay
    if stem in ('ret', 'retl'):
        return B_RETURN, F_DELAY
    if stem in ('return', 'rett'):
        return B_RETURN, F_DELAY | F_RESTORE
    if stem == 'call':
        # Else it is an alias of JMPL.
        return (B_CALL if word >> 30 == 1 else B_INDIRECT_CALL), F_DELAY
    if stem in ('jmp', 'jmpl'):
        called = operands.endswith(', %o7')
        return (B_INDIRECT_CALL if called else B_INDIRECT), F_DELAY
    return None


def sparc_access(name, operands):
    """(class, access, size; size None: not compared) of a memory access."""
    asi = re.search(r'\] ?(#ASI_\w+|%asi|\(\d+\))', operands)
    plain = not asi or asi[1] in PLAIN_ASI
    if name in ('prefetch', 'prefetcha'):
        return LOAD, A_NONE, 0
    if re.match(r'ldstub|swap|cas', name):
        size = 1 if name[0] == 'l' else 8 if 'x' in name else 4
        return ATOMIC, A_ATOMIC if plain else None, size if plain else None
    match = re.match(r'(ld|st|clr)(.*?)(a?)$', name)
    if not match or '[' not in operands:
        return None
    load = match[1] == 'ld'
    if match[2] in ('q', 'txa', 'tx'):
        return (LOAD if load else STORE), A_MIXED, None
    access = A_LOAD if load else A_STORE
    return ((LOAD if load else STORE), access if plain else None,
            SIZES[match[2]] if plain else None)


def sparc_expect(word, text):
    """A dict of what must hold; empty: objdump's text decides nothing."""
    name, _, operands = text.partition(' ')
    operands = operands.strip()
    if name in ('unknown', '.word', ''):
        return {}
    if name in ('illtrap', 'unimp'):
        return {'class': OTHER, 'illegal': True}
    branch = sparc_branch(word, name, operands)
    if branch:
        return {'class': BRANCH, 'branch': branch[0], 'access': A_NONE,
                'flags': branch[1]}
    access = sparc_access(name, operands)
    if access:
        return {'class': access[0], 'access': access[1], 'size': access[2],
                'branch': B_NONE}
    if word == 0x010003f0:
        return {'class': SETHI}
    flags = {'save': F_SAVE, 'restore': F_RESTORE, 'flushw': F_FLUSHW,
             'membar': F_MEMBAR, 'stbar': F_MEMBAR}.get(name, 0)
    if name == 'rd' and re.fullmatch('%ccr, *%g0', operands):
        flags = F_PAUSE
    if name in TRAPS:
        return {'class': OTHER, 'flags': F_SYSCALL, 'access': A_NONE}
    if name in INTEGER:
        return {'class': OTHER, 'flags': flags, 'access': A_NONE}
    if name[0] == 'f' or name in ('pdist', 'siam', 'bshuffle'):
        compute = re.match(r'f(add|sub|mul|smul|dmul|div|sqrt|cmp|cmpe)[sdq]$'
                           r'|f[sdqix]to[sdqix]$', name)
        flags = F_FP if compute else 0
        if name in SHARED_FPU:
            flags |= F_SHARED_FPU
        return {'class': FGU, 'flags': flags, 'access': A_NONE}
    return {'unknown': True}


def sparc_mismatch(row, got):
    address, code, text = row
    want = sparc_expect(int(code, 16), text)
    size, klass, branch, target, access, access_size, loads, stores = got[:8]
    flags = got[8]

    if sparc_reserved(int(code, 16)) or want.get('illegal'):
        return None if flags & F_ILLEGAL else 'legal'
    if not want:
        return None
    if want.get('unknown'):
        return 'a mnemonic of no known class'
    if flags & F_ILLEGAL:
        return 'illegal'
    if size != 4:
        return f'size {size}'
    for key, value in (('class', klass), ('branch', branch),
                       ('access', access), ('size', access_size)):
        if want.get(key) is not None and want[key] != value:
            return f'{key} {value}, expected {want[key]}'
    if 'flags' in want and flags != want['flags']:
        return f'flags {flags:#x}, expected {want["flags"]:#x}'
    if klass in (LOAD, STORE, ATOMIC) and access != A_NONE:
        if (loads, stores) != (klass != STORE, klass != LOAD):
            return f'{loads} loads and {stores} stores'
    if branch in (B_COND, B_NEVER, B_JUMP, B_CALL):
        place = re.findall(r'0x[0-9a-f]+|\b[0-9a-f]+\b', text)
        if place and int(place[-1], 16) != target:
            return f'target {target:#x}'
    return None


def check_sparc(dump, objdump, files):
    # v9c is the last architecture before VIS 3 and fused multiply-add.
    machine = ['-m', 'sparc:v9c']
    with tempfile.NamedTemporaryFile(suffix='.bin') as file:
        for word in sparc_words():
            file.write(struct.pack('>I', word))
        file.flush()
        raw = machine + ['-D', '-b', 'binary', '-EB']
        rows = list(disassemble(objdump, raw, file.name))
    for path in files:
        rows += [(a, c, re.sub(r' <.*', '', t))
                 for a, c, t in disassemble(objdump, machine, path)]
    return rows, decode(dump, 'sparc64', rows), sparc_mismatch


# --- MIPS ----------------------------------------------------------------

MIPS_JUMPS = {'j': B_JUMP, 'jal': B_CALL, 'jr': B_INDIRECT, 'jr.hb': B_INDIRECT,
              'jalr': B_INDIRECT_CALL, 'jalr.hb': B_INDIRECT_CALL}
MIPS_LOADS = {'lb': 1, 'lbu': 1, 'lh': 2, 'lhu': 2, 'lw': 4, 'lwu': 4, 'ld': 8,
              'll': 4, 'lld': 8,
              'lwc1': 4, 'ldc1': 8, 'lwxc1': 4, 'ldxc1': 8, 'luxc1': 8}
MIPS_UNALIGNED = ('lwl', 'lwr', 'ldl', 'ldr')
MIPS_STORES = {'sb': 1, 'sh': 2, 'sw': 4, 'sd': 8, 'swc1': 4, 'sdc1': 8,
               'swxc1': 4, 'sdxc1': 8, 'suxc1': 8}
MIPS_MULDIV = re.compile(r'd?(mult|div)u?$|m(add|sub)u?$|mul$')
MIPS_TRAPS = re.compile(r'syscall$|break$|sdbbp$|t(ge|lt)i?u?$|t(eq|ne)i?$')
MIPS_INTEGER = re.compile(
    r'd?(addi?u?|subu?|negu?|sllv?|sr[al]v?|ror|rorv|rotrv?|sll32|sr[al]32|ror32|'
    r'rotr32|clz|clo|ext|extm|extu|ins|insm|insu)$|(and|or|xor|slt)i?u?$|'
    r'sltiu$|nor$|lui$|m[ft](hi|lo)$|mov[fntz]$|wsbh$|seb$|seh$|dsbh$|dshd$|'
    r'rdhwr$|dli$|li$|synci$|sync\w*$|nop$|ssnop$|ehb$|pause$')
MIPS_FP = re.compile(r'(add|sub|mul|div|sqrt|abs|neg|round|trunc|ceil|floor|'
                     r'recip|rsqrt|cvt|c|n?madd|n?msub)\.')
MIPS_FP_ANY = re.compile(MIPS_FP.pattern + r'|(mov[fntz]?|p[lu][lu]|alnv)\.|'
                         r'd?m[ft]c1$|c[ft]c1$|m[ft]hc1$')
MIPS_KERNEL = re.compile(
    r'cache$|[cmd]+[ft]c[02]$|c0$|c2$|cop[02]$|bc2|eret$|deret$|wait$|tlb|di$|'
    r'ei$|rdpgpr$|wrpgpr$|[ls][wd]c2$|m[ft]hc2$|jalx$|dret$|bc0')


def mips_words():
    """Every opcode and function with zero and random fields, then random."""
    rng = random.Random(SEED)
    shapes = [(op << 26, 0xfc000000) for op in range(64)] * 20
    shapes += [(op << 26 | f, 0xfc00003f) for op in (0, 0x13, 0x1c, 0x1f)
               for f in range(64)] * 4
    shapes += [(0x04000000 | rt << 16, 0xfc1f0000) for rt in range(32)] * 4
    shapes += [(0x44000000 | fmt << 21 | f, 0xffe0003f)
               for fmt in range(32) for f in range(64)]
    for value, mask in shapes:
        for _ in range(8):
            word = rng.getrandbits(32)
            for field in (0x03e00000, 0x001f0000, 0xf800, 0x07c0):
                if rng.getrandbits(1):
                    word &= ~field
            yield word & ~mask | value
    for _ in range(100000):
        yield rng.getrandbits(32)


def mips_branch(word, name, operands):
    """(kind, flags) of a branch, or None."""
    if name in MIPS_JUMPS:
        kind = MIPS_JUMPS[name]
        source = operands.split(',')[-1]
        if name.startswith('j') and 'r' in name and word >> 11 & 31 == 0:
            kind = B_RETURN if source == '$31' else B_INDIRECT
        return kind, F_DELAY
    match = re.match(r'b(eq|ne|lez|gtz|ltz|gez|c1[ft])(al)?(l?)$', name)
    if not match:
        return None
    test, links, likely = match.groups()
    regs = operands.split(',')
    same = regs[0] == regs[1] if test in ('eq', 'ne') else regs[0] == '$0'
    kind = B_COND
    if same and not test.startswith('c1'):
        always = test in ('eq', 'lez', 'gez')
        kind = (B_CALL if links else B_JUMP) if always else B_NEVER
    sure = kind in (B_JUMP, B_CALL)
    flags = F_ANNUL if likely and not sure else 0
    return kind, flags | (0 if likely and kind == B_NEVER else F_DELAY)


def mips_access(name):
    """(class, access, size, flags), or None."""
    if name in MIPS_LOADS:
        return (LOAD, A_LOAD, MIPS_LOADS[name],
                F_FLOAT if name.endswith('c1') else 0)
    if name in MIPS_STORES:
        return STORE, A_STORE, MIPS_STORES[name], 0
    if name in ('sc', 'scd'):
        return STORE, A_MIXED, 8 if name[-1] == 'd' else 4, F_CONDITIONAL
    if name in MIPS_UNALIGNED:
        return LOAD, A_MIXED, 0, 0
    if name in ('swl', 'swr', 'sdl', 'sdr'):
        return STORE, A_MIXED, 1, 0
    if name in ('pref', 'prefx'):
        return LOAD, A_NONE, 0, F_PREFETCH
    return None


def mips_writes(word, name):
    """The general registers that the text says are written, or None."""
    if name in ('jal', 'bltzal', 'bgezal', 'bltzall', 'bgezall'):
        return 1 << 31
    if name == 'syscall':
        return 0xfffffffe
    rt = re.match(r'(dd?)?add(i|iu)$|daddiu?$|addiu?$|slti|andi|ori|xori|lui|'
                  r'd?li$|d?ext|d?ins|rdhwr|[cd]?m?fc1|mfhc1|scd?$', name)
    if rt or name in MIPS_UNALIGNED or \
            (name in MIPS_LOADS and 'c1' not in name):
        return 1 << (word >> 16 & 31) & 0xfffffffe
    if name in MIPS_STORES or word >> 26 in (0x11, 0x13) or \
            MIPS_TRAPS.match(name):
        return 0
    if name in ('mthi', 'mtlo') or (MIPS_MULDIV.match(name) and name != 'mul'):
        return 0
    if name in MIPS_JUMPS and name[:4] != 'jalr':
        return 0
    if MIPS_INTEGER.match(name) or name in ('mul', 'jalr', 'jalr.hb'):
        if not name.startswith('sync'):
            return 1 << (word >> 11 & 31) & 0xfffffffe
    return None


def mips_expect(word, text):
    """A dict of what must hold; empty: objdump's text decides nothing."""
    name, _, operands = text.partition('\t')
    if name in ('.word', '') or name.startswith('0x'):
        return {'illegal': None}
    if MIPS_KERNEL.match(name):
        return {'illegal': True}
    want = {'class': OTHER, 'branch': B_NONE, 'access': A_NONE, 'flags': 0}
    branch = mips_branch(word, name, operands)
    access = mips_access(name)
    if branch:
        want |= {'class': BRANCH, 'branch': branch[0], 'flags': branch[1]}
    elif access:
        want |= dict(zip(('class', 'access', 'size', 'flags'), access))
    elif word >> 26 in (0x11, 0x13) and MIPS_FP_ANY.match(name):
        computes = MIPS_FP.match(name)
        want |= {'class': FGU, 'flags': F_FP | F_SHARED_FPU if computes else 0}
    elif MIPS_MULDIV.match(name):
        want['flags'] = F_MULDIV
    elif MIPS_TRAPS.match(name):
        want['flags'] = F_SYSCALL
    elif name.startswith('sync') and name != 'synci':
        want['flags'] = F_MEMBAR
    elif name == 'pause':
        want['flags'] = F_PAUSE
    elif not MIPS_INTEGER.match(name):
        return {'unknown': True}
    return want


def mips_reserved(word):
    """True for what objdump takes and this decoder does not."""
    op, rs, rt, rd, sa, f = (word >> 26, word >> 21 & 31, word >> 16 & 31,
                             word >> 11 & 31, word >> 6 & 31, word & 63)
    if op == 0x1f and f < 8:  # positions out of the register
        return (f not in (3, 5)) and (sa + rd > 31 if f < 4 else sa > rd)
    if op == 0x1f and f == 0x3b:
        return rd not in (0, 1, 2, 3, 29) or rs != 0
    if (op == 0 and 0x18 <= f < 0x20) or (op == 0x1c and f in (0, 1, 4, 5)):
        return rd != 0  # of the DSP
    # CVT.PS.PW and CVT.PW.PS are of MIPS-3D.
    return op == 0x11 and (rs, f) in ((0x14, 0x26), (0x16, 0x24))


def mips_mismatch(row, got):
    code, text = row[1:]
    word = int(code, 16)
    want = mips_expect(word, text)
    size, klass, branch, target, access, access_size, loads, stores = got[:8]
    flags, writes = got[8:10]
    if mips_reserved(word) or want.get('illegal'):
        return None if flags & F_ILLEGAL else 'legal'
    if 'illegal' in want:
        # objdump wants fields of zeros that the chip does not look at.
        return None
    if want.get('unknown'):  # of an extension
        return None if flags & F_ILLEGAL else 'legal'
    if flags & F_ILLEGAL:
        return 'illegal'
    for key, value in (('class', klass), ('branch', branch),
                       ('access', access), ('size', access_size),
                       ('flags', flags)):
        if want.get(key) is not None and want[key] != value:
            return f'{key} {value}, expected {want[key]}'
    if (loads, stores) != (klass == LOAD and access != A_NONE,
                           klass == STORE):
        return f'{loads} loads and {stores} stores'
    if branch in (B_COND, B_NEVER, B_JUMP, B_CALL):
        place = re.findall(r'0x[0-9a-f]+|\b[0-9a-f]+\b', text)
        if int(place[-1], 16) != target:
            return f'target {target:#x}'
    written = mips_writes(word, text.partition('\t')[0])
    if written is not None and written != writes:
        return f'writes {writes:#x}, expected {written:#x}'
    return None


def check_mips(isa, dump, objdump, files):
    """objdump shows words, whatever their order in memory."""
    big = isa == 'mips64'
    options = ['-M', 'no-aliases,gpr-names=numeric,cp0-names=numeric']
    with tempfile.NamedTemporaryFile(suffix='.bin') as file:
        for word in mips_words():
            file.write(struct.pack('>I' if big else '<I', word))
        file.flush()
        raw = ['-D', '-b', 'binary', '-m', 'mips:isa64r2',
               '-EB' if big else '-EL']
        rows = list(disassemble(objdump, raw + options, file.name))
    for path in files:
        rows += [(a, c, re.sub(r' <.*', '', t))
                 for a, c, t in disassemble(objdump, options, path)]
    in_memory = rows if big else [
        (a, bytes.fromhex(c)[::-1].hex(), t) for a, c, t in rows]
    return rows, decode(dump, isa, in_memory), mips_mismatch


# --- x86-64 --------------------------------------------------------------

PREFIXES = (r'(?:(?:bnd|notrack|data16|rex(?:\.[WRXB]+)?|[cdefgs]s|addr32|lock|'
            r'repz?|repnz|xacquire|xrelease) )*')


def x86_branch(name, operands):
    if name.startswith('ret') or name.startswith('iret'):
        return B_RETURN
    direct = re.match(r'(0x)?[0-9a-f]+\b', operands)
    if name.startswith('call'):
        return B_CALL if direct else B_INDIRECT_CALL
    if name.startswith('jmp'):
        return B_JUMP if direct else B_INDIRECT
    if re.match(r'j[a-z]|loop', name):
        return B_COND
    return B_NONE


TO_FIRST = ('add sub and or xor adc sbb inc dec neg not shl shr sar rol ror '
            'rcl rcr').split()
MOVES = ('mov movabs movzx movsx movsxd movaps movups movdqa movdqu movq movd '
         'movss movapd vmovdqu vmovdqa vmovaps vmovups vmovd vmovq vmovsd '
         'vmovss movhps movlps movhpd movlpd movntdq movnti movbe').split()
READS = ('cmp test imul bt pxor por pand paddd paddq pshufd pcmpeqb vpxor '
         'vpcmpeqb vpminub vpand vpor xorps andps punpcklqdq').split()
SIZES_X86 = {'BYTE': 1, 'WORD': 2, 'DWORD': 4, 'QWORD': 8, 'XMMWORD': 16,
             'YMMWORD': 32, 'ZMMWORD': 64}
FP_X86 = re.compile(
    r'v?(add|sub|mul|div|sqrt|min|max|rcp|rsqrt|round|hadd|hsub|addsub|dp|'
    r'u?comi|cmp\w*)[sp][sd]$|v?cvt|vfn?m(add|sub)|'
    r'fi?(add|sub|mul|div)[rp]*$|f(chs|abs|sqrt|prem1?|scale|rndint|sin|cos|'
    r'sincos|ptan|patan|2xm1|yl2x|yl2xp1|xtract|tst|xam)$|fu?comi?p*$|ficomp?$')
LEGACY = ('al cl dl bl ah ch dh bh', 'ax cx dx bx sp bp si di',
          'eax ecx edx ebx esp ebp esi edi', 'rax rcx rdx rbx rsp rbp rsi rdi')
REGISTERS = {name: n % 4 if name in LEGACY[0].split() else n
             for names in LEGACY for n, name in enumerate(names.split())}
REGISTERS.update({f'r{n}{size}': n for n in range(8, 16) for size in
                  ('', 'd', 'w', 'b')})
REGISTERS.update({'spl': 4, 'bpl': 5, 'sil': 6, 'dil': 7})


def x86_memory(name, prefixes, operands):
    """The access that must be, or None where the text does not decide it."""
    in_memory = re.compile(r'PTR|\[')
    first, *rest = operands.split(',')
    memory = in_memory.search(operands)
    if 'rep' in prefixes and re.match(r'(movs|stos|lods|scas|cmps)', name):
        return A_REPEATED
    if memory and ('lock' in prefixes or name == 'xchg'):
        return A_ATOMIC if name != 'cmpxchg16b' else A_MIXED
    if name in ('lea', 'nop') or name.startswith('prefetch'):
        return A_NONE
    if memory and '{k' in operands:
        return A_MIXED
    if re.match(r'(push|call)', name):
        return A_MIXED if memory else A_STORE
    if re.match(r'(pop(?!cnt)|ret)', name):
        return A_MIXED if memory else A_LOAD
    if not memory:
        implicit = r'iret|leave|enter|movs|stos|lods|scas|cmps|xlat|v?maskmov'
        return None if re.match(implicit, name) else A_NONE
    if name in MOVES or name.startswith('set'):
        return A_STORE if in_memory.search(first) else A_LOAD
    if name in TO_FIRST:
        return A_UPDATE if in_memory.search(first) else A_LOAD
    if name in READS or name.startswith('cmov') or re.match(r'v?addsd', name):
        return A_LOAD
    return None


def x86_class(name, branch, access, loads, stores):
    if branch != B_NONE or name in ('syscall', 'sysenter', 'int', 'int1',
                                    'int3'):
        return BRANCH
    if FP_X86.match(name):
        return FGU
    if access == A_ATOMIC:
        return ATOMIC
    if name.startswith('prefetch'):
        return LOAD
    if access in (A_LOAD, A_STORE):
        return LOAD if access == A_LOAD else STORE
    if access == A_NONE or (loads and stores):
        return OTHER
    return None


def x86_mismatch(row, got):
    address, code, text = row
    size, klass, branch, target, access, access_size, loads, stores = got[:8]
    flags, writes = got[8:10]
    match = re.match('(' + PREFIXES + r')(\S+)\s*(.*)', text)
    if not match or match[2] in ('(bad)', '.byte') or '(bad)' in text:
        return None
    prefixes, name, operands = match[1], match[2], match[3]
    if flags & F_ILLEGAL:
        return None if name.startswith('ud') else 'illegal'
    if code.startswith('9b') and size == 1:
        return None  # objdump joins FWAIT and what follows
    if size != len(code) // 2:
        return f'size {size}, expected {len(code) // 2}'
    want = x86_branch(name, operands)
    if branch != want:
        return f'branch {branch}, expected {want}'
    if branch in (B_COND, B_JUMP, B_CALL):
        if int(re.match(r'(?:0x)?([0-9a-f]+)', operands)[1], 16) != target:
            return f'target {target:#x}'
    want = x86_memory(name, prefixes, operands)
    if branch in (B_NONE, B_CALL, B_RETURN) and want not in (None, access):
        return f'access {access}, expected {want}'
    pointer = re.search(r'(\w+) PTR', operands)
    if pointer and access in (A_LOAD, A_STORE, A_UPDATE, A_ATOMIC):
        if SIZES_X86.get(pointer[1]) != access_size:
            return f'access size {access_size}'
    want = x86_class(name, branch, access, loads, stores)
    if want not in (None, klass):
        return f'class {klass}, expected {want}'
    first = REGISTERS.get(operands.split(',')[0])
    if first is not None and (name in TO_FIRST or name in MOVES):
        if writes != 1 << first:
            return f'writes {writes:#x}, expected {1 << first:#x}'
    if name in ('cmp', 'test', 'bt') and writes:
        return f'writes {writes:#x}, expected nothing'
    return None


def check_x86(dump, objdump, files):
    rows = []
    for file in files:
        rows += disassemble(objdump, ['-M', 'intel', '--insn-width=15'], file)
    return rows, decode(dump, 'x86_64', rows), x86_mismatch


# --- AArch64 -------------------------------------------------------------

A64_SIZES = {'b': 1, 'h': 2, 's': 4, 'd': 8, 'q': 16}
A64_BYTES = {'b': 1, 'sb': 1, 'h': 2, 'sh': 2, 'sw': 4}
A64_BARRIERS = re.compile(r'(dmb|dsb|sb|pssbb|ssbb|dfb)$')
A64_FP = re.compile(
    r'f(abd|abs|add|addp|ac[gl][et]|cadd|c?cmpe?|cm(eq|ge|gt|le|lt|la)|'
    r'ccmpe?|cvt\w*|div|jcvtzs|madd|max\w*|min\w*|ml[as]l?2?|ms?ub|msub|mulx?|'
    r'neg|nm(add|sub|ul)|rec[pt]\w*|recp[exs]|rint\w*|rsqrt[es]|sqrt|sub)$|'
    r'fjcvtzs$|[su]cvtf$|bf(cvtn?2?|dot|mlal[bt]|mmla)$')
A64_PAIRS = re.compile(r'(ld|st)n?p(sw)?$')
A64_ORDERED = re.compile(r'(ld(?:ap?u?r|xr|axr|lar|apur)|st(?:lu?r|llr))(s?[bhw])?$')
A64_STRUCTURE = re.compile(r'(ld|st)([1-4])(r?)$')
# Words that the decoder takes for their neighbours: see its head.
A64_PRIVILEGED = re.compile(
    r'(hvc|smc|eret|eretaa|eretab|drps|dcps[123]|[ls]dgm|stgm|stzgm|ldgm|'
    r'at|tlbi|sysl|sysp|brb|trcit|wrffr_none)$')
# Of extensions that the decoder does not know.
A64_UNKNOWN = re.compile(
    r'(cpy|set)[a-z]*[pme][a-z]*$|(ld|st)64bv?0?$|smstart|smstop|'
    r'(ld|st)clrp|swpp|tcommit|tcancel|tstart|ttest|wkdm|rprfm')


def a64_operands(text):
    name, _, operands = text.partition('\t')
    return name, operands.strip()


def a64_register(word):
    """The bit of a register by its name in the text; 0 for others."""
    if word in ('sp', 'wsp'):
        return 1 << 31
    match = re.match(r'[wx](\d+)$', word)
    return 1 << int(match[1]) if match else 0


def a64_branch(name, operands):
    """(kind, target or None), or None."""
    place = re.findall(r'[0-9a-f]+', operands.split(',')[-1].split('<')[0])
    target = place and int(place[-1].replace('0x', ''), 16)
    if name == 'b':
        return B_JUMP, target
    if name == 'bl':
        return B_CALL, target
    if re.match(r'bc?\.', name):
        return (B_JUMP if name[-2:] in ('al', 'nv') else B_COND), target
    if name in ('cbz', 'cbnz', 'tbz', 'tbnz'):
        zero = operands.split(',')[0] in ('wzr', 'xzr')
        kind = B_COND if not zero else B_NEVER if 'n' in name else B_JUMP
        return kind, target
    if re.match(r'ret(aa|ab)?$', name):
        return B_RETURN, 0
    if re.match(r'blr(a[ab]z?)?$', name):
        return B_INDIRECT_CALL, 0
    if re.match(r'br(a[ab]z?)?$', name):
        return B_INDIRECT, 0
    return None


def a64_width(register):
    """Bytes of a register, general or of floating point."""
    if register in ('sp', 'xzr'):
        return 8
    if register == 'wzr':
        return 4
    return {'w': 4, 'x': 8}.get(register[0]) or A64_SIZES[register[0]]


def a64_elements(operands):
    """(registers, bytes of one, bytes of an element) of a list of vectors."""
    inside = operands[operands.index('{') + 1:operands.index('}')]
    kind = re.search(r'\.(\d*)([bhsd])', inside)
    first, _, last = inside.replace(' ', '').partition('-')
    if last:
        count = (int(re.match(r'v(\d+)', last)[1]) -
                 int(re.match(r'v(\d+)', first)[1])) % 32 + 1
    else:
        count = inside.count('v')
    size = A64_SIZES[kind[2]]
    return count, size * int(kind[1] or 0), size


def a64_access(name, operands):
    """(class, access, size, flags), or None."""
    first = operands.split(',')[0]
    floats = F_FLOAT if first[:1] in 'bhsdq' and first != 'sp' else 0
    if re.match(r'prf', name):
        return LOAD, A_NONE, 0, F_PREFETCH
    if name in ('stzg', 'stz2g'):
        return STORE, A_MIXED, 0, 0
    match = re.match(r'(cas|swp|ld(add|clr|eor|set|[su]max|[su]min))a?l?([bh]?)$',
                     name)
    if match:
        of = operands.split(',')[1 if name.startswith('cas') else 0]
        return ATOMIC, A_ATOMIC, A64_BYTES.get(match[3]) or a64_width(of.strip()), 0
    if re.match(r'caspa?l?$', name):
        return ATOMIC, A_MIXED, 0, 0
    match = re.match(r'stl?x([rp])([bh]?)$', name)
    if match:
        size = A64_BYTES.get(match[2]) or a64_width(operands.split(',')[1].strip())
        return STORE, A_MIXED, size * (2 if match[1] == 'p' else 1), F_CONDITIONAL
    if re.match(r'lda?xp$', name):
        return LOAD, A_LOAD, 2 * a64_width(first), 0
    if name == 'stgp':
        return STORE, A_STORE, 16, 0
    match = A64_PAIRS.match(name)
    if match:
        size = 4 if match[2] else a64_width(first)
        load = match[1] == 'ld'
        return (LOAD if load else STORE,
                A_MIXED if size == 4 else A_LOAD if load else A_STORE,
                4 if size == 4 else 2 * size, floats if load else 0)
    match = A64_STRUCTURE.match(name)
    if match and '.' in first and 'z' not in first:
        count, whole, size = a64_elements(operands)
        load = match[1] == 'ld'
        lane = '[' in operands[:operands.index('}') + 2]
        single = match[2] == '1'
        if single and (lane or match[3]):
            size, access = size, A_LOAD if load else A_STORE
        elif single:
            size, access = count * whole, A_LOAD if load else A_STORE
        else:
            access = A_MIXED
        return LOAD if load else STORE, access, size, F_FLOAT if load else 0
    match = re.match(r'(ld|st)(r|ur|tr|xr|axr|ar|lar|lr|llr|lur|apr|apur|raa|rab)'
                     r'(s?[bhw])?$', name)
    if match and first[0] not in 'zp{':
        load = match[1] == 'ld'
        size = A64_BYTES.get(match[3]) or a64_width(first)
        return (LOAD if load else STORE, A_LOAD if load else A_STORE, size,
                floats if load else 0)
    return None


def a64_sve(word, name):
    """What must hold of an SVE instruction."""
    if name.startswith('prf'):
        return {'class': LOAD, 'access': A_NONE, 'flags': F_PREFETCH}
    if re.match(r'(ld(?!\w*clr)|ldff|ldnf|ldnt)', name):
        return {'class': LOAD, 'access': A_MIXED, 'flags': F_FLOAT}
    if name.startswith('st'):
        return {'class': STORE, 'access': A_MIXED, 'flags': 0}
    # By the text alone no rule tells which of these compute.
    return {'class': FGU, 'access': A_NONE}


def a64_writes(name, operands):
    """The general registers that the text says are written, or None."""
    words = [w.strip(' []!') for w in operands.split(',')]
    back = '!' in operands or re.search(r'\[[xs]\w*\], ', operands)
    base = re.search(r'\[([xs]\w+)', operands)
    based = a64_register(base[1]) if base and back else 0
    if name == 'svc':
        return 0xffffffff
    if re.match(r'st(?!l?x[rp])|prf|dc$|ic$|msr|bc?\.|[ct]bn?z|b$|br|ret|brk|hlt|'
                r'dmb|dsb|isb|wfet|wfit|c[cm][mn]|f?ccmpe?|fcmpe?|setf|rmif|nop', name):
        return based
    if re.match(r'bl$|blr', name):
        return 1 << 30
    if re.match(r'stl?x[rp]|swp|ld(add|clr|eor|set|[su]m)', name):
        return a64_register(words[1] if name[:2] != 'st' else words[0])
    if re.match(r'casp', name):
        return a64_register(words[0]) | a64_register(words[1])
    if name.startswith('cas'):
        return a64_register(words[0])
    if re.match(r'lda?xp|ldn?p', name):
        return a64_register(words[0]) | a64_register(words[1]) | based
    if name == 'ldg':
        return a64_register(words[0])
    if re.match(r'(pac|aut|xpac)\w*(sp|z|lri)$', name) and not operands:
        return 1 << 30
    if re.match(r'(pac|aut)i[ab]1716$', name):
        return 1 << 17
    if name == 'hint':
        number = int(operands.strip('#'), 0)
        signs = 1 << 30 if number == 7 or number >> 3 == 3 else 0
        return 1 << 17 if number in (8, 10, 12, 14) else signs
    if operands[:1] in 'wxs' and re.match(r'[wx]\d+$|[wx]zr$|w?sp$', words[0]):
        return a64_register(words[0]) | based
    return based


def a64_lenient(word):
    """Words that objdump does not take, and the decoder may: unallocated ones
    among vectors, fields that are to be ones (LDAR), a base that is loaded."""
    return (word >> 25 & 7 in (2, 7) or word >> 23 & 0x7f == 0x11 or
            word >> 27 & 7 == 5 or word >> 24 & 0x3b == 0x38)


def a64_sys(operands):
    """What must hold of SYS: user mode has those of op1 3 and CRn 7, which are
    operations on caches, DC ZVA too."""
    op1, crn = [w.strip(' #C') for w in operands.split(',')[:2]]
    if (op1, crn) != ('3', '7'):
        return {'illegal': True}
    return {'class': OTHER, 'access': A_NONE, 'flags': 0, 'writes': 0}


def a64_expect(word, text):
    """A dict of what must hold; empty: objdump's text decides nothing."""
    name, operands = a64_operands(text)
    if name in ('.inst', '.word', 'udf', '') or 'undefined' in text:
        return {'illegal': True if not a64_lenient(word) else None}
    if A64_PRIVILEGED.match(name):
        return {'illegal': True}
    if A64_UNKNOWN.match(name):
        return {'illegal': True}
    if name in ('msr', 'mrs') and word >> 20 & 1:
        return {'system': True}
    if name in ('msr', 'mrs') and 's0_' in operands:
        return {'illegal': None}
    if name == 'sys':
        return a64_sys(operands)
    if word >> 25 & 15 == 0:  # of SME
        return {'illegal': True}
    if word >> 25 & 15 == 2:
        return a64_sve(word, name)
    want = {'class': OTHER, 'branch': B_NONE, 'access': A_NONE, 'flags': 0,
            'writes': a64_writes(name, operands)}
    branch = a64_branch(name, operands)
    access = a64_access(name, operands)
    if branch:
        want |= {'class': BRANCH, 'branch': branch[0], 'target': branch[1]}
    elif access:
        want |= dict(zip(('class', 'access', 'size', 'flags'), access))
    elif word >> 25 & 7 == 7:
        computes = A64_FP.match(name)
        want |= {'class': FGU, 'flags': F_FP | F_SHARED_FPU if computes else 0}
    elif re.match(r'(([su]m)?(n?m?)(add|sub|neg|ull?|ul)l?|mul|[su]mulh|[su]div|'
                  r'm(add|sub|neg|ul)|[su]m(add|sub|neg|ul)l)$', name) and \
            name not in ('add', 'sub', 'neg'):
        want['flags'] = F_MULDIV
    elif name in ('svc', 'brk', 'hlt'):
        want['flags'] = F_SYSCALL
    elif A64_BARRIERS.match(name):
        want['flags'] = F_MEMBAR
    elif re.match(r'(yield|wfe|wfi|wfet|wfit)$', name) or (
            name == 'hint' and int(operands.strip('#'), 0) in (1, 2, 3)):
        want['flags'] = F_PAUSE
    return want


def a64_mismatch(row, got):
    _, code, text = row
    word = int(code, 16)
    want = a64_expect(word, text)
    size, klass, branch, target, access, access_size, loads, stores = got[:8]
    flags, writes = got[8:10]
    if size != 4:
        return f'size {size}'
    if 'illegal' in want:
        # A word that objdump does not know is illegal, or a neighbour.
        return 'legal' if want['illegal'] and not flags & F_ILLEGAL else None
    if want.get('system'):
        user = word >> 16 & 7 == 3
        return 'illegal' if user and flags & F_ILLEGAL else None
    if flags & F_ILLEGAL:
        return 'illegal'
    for key, value in (('class', klass), ('branch', branch), ('target', target),
                       ('access', access), ('size', access_size),
                       ('flags', flags), ('writes', writes)):
        if want.get(key) is not None and want[key] != value:
            return f'{key} {value:#x}, expected {want[key]:#x}'
    both = klass == ATOMIC
    if (loads, stores) != (both or (klass == LOAD and access != A_NONE),
                           both or klass == STORE):
        return f'{loads} loads and {stores} stores'
    return None


def a64_words():
    """Random words, most of them in the groups of instructions."""
    rng = random.Random(SEED)
    for _ in range(20000):
        yield rng.getrandbits(32)
    for group in (4, 5, 6, 8, 9, 10, 11, 12, 13, 14):
        for _ in range(4000):
            yield rng.getrandbits(32) & ~(15 << 25) | group << 25
    # Vectors: of two registers and across lanes, and the rest.
    for _ in range(10000):
        yield rng.getrandbits(32) & ~0x8f2e0c00 | 0x0e200800
        yield rng.getrandbits(32) & ~0x0e000000 | 0x0e000000
    # Of one and two registers.
    for _ in range(3000):
        yield rng.getrandbits(32) & ~0x7fe00000 | 0x5ac00000
        yield rng.getrandbits(32) & ~0x3f5e07e0 | 0x1ac003e0
    # System instructions and branches to registers are rare among those.
    for _ in range(3000):
        yield 0xd5000000 | rng.getrandbits(22)
        yield 0xd6000000 | rng.getrandbits(24)
        yield 0xd503201f | rng.getrandbits(7) << 5
        yield 0xd503301f | rng.getrandbits(7) << 5


def check_a64(dump, objdump, files):
    """objdump shows words; a file is one that objdump reads."""
    options = ['-M', 'no-aliases']
    with tempfile.NamedTemporaryFile(suffix='.bin') as file:
        for word in a64_words():
            file.write(struct.pack('<I', word))
        file.flush()
        rows = list(disassemble(objdump, ['-D', '-b', 'binary', '-m', 'aarch64',
                                          *options], file.name))
    for path in files:
        rows += disassemble(objdump, options, path)
    rows = [(a, c, re.sub(r'\s*(//| <).*', '', t)) for a, c, t in rows]
    in_memory = [(a, bytes.fromhex(c)[::-1].hex(), t) for a, c, t in rows]
    return rows, decode(dump, 'aarch64', in_memory), a64_mismatch


# --- RISC-V --------------------------------------------------------------

RV_ARCH = ('rv64gc_zba_zbb_zbc_zbs_zfh_zicbom_zicboz_zicbop_zawrs_zicsr_'
           'zifencei_zihintpause')
RV_REGISTERS = ('zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 '
                's4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6').split()
RV_CSRS = {'fflags': 1, 'frm': 2, 'fcsr': 3, 'cycle': 0xc00, 'time': 0xc01,
           'instret': 0xc02}
RV_BYTES = {'b': 1, 'bu': 1, 'h': 2, 'hu': 2, 'w': 4, 'wu': 4, 'd': 8}
RV_CONDITIONS = ('beq', 'bne', 'blt', 'bge', 'bltu', 'bgeu')
RV_INTEGER = re.compile(
    r'(addi?w?|subw?|s[lr]li?w?|srai?w?|sltu?|sltiu?|(and|or|xor)i?|lui|auipc|'
    r'sh[123]add(\.uw)?|add\.uw|slli\.uw|andn|orn|xnor|cl[zm]\w*|ctzw?|cpopw?|'
    r'maxu?|minu?|sext\.[bh]|zext\.h|rolw?|rori?w?|orc\.b|rev8|'
    r'b(clr|ext|inv|set)i?)$')
RV_MULDIV = re.compile(r'(mulh?|mulhs?u|mulw|(div|rem)u?w?)$')
RV_FP = re.compile(r'f(add|sub|mul|div|sqrt|min|max|n?madd|n?msub|sgnj[nx]|le|lt|'
                   r'eq|cvt)\.')
RV_FP_ANY = re.compile(RV_FP.pattern + r'|f(sgnj|class|mv)\.')
RV_PRIVILEGED = re.compile(r'([usmd]ret|wfi|sfence|hfence|sinval|hinval|h[ls]v|unimp'
                           r'|c\.unimp)')
RV_FLOATS = [f'f{name}' for name in (
    't0 t1 t2 t3 t4 t5 t6 t7 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 '
    's10 s11 t8 t9 t10 t11').split()]
# What executes an instruction, by enum operation; the first that fits.
RV_OPERATIONS = [(re.compile(pattern), operation) for pattern, operation in (
    (r'f?[ls][bhwd]u?|lr\..*|prefetch\..*|pause', 0),
    (r'csrr[sc]i? (fflags|frm|fcsr) z', 1),
    (r'clzw?|ctzw?|cpopw?', 2), (r'mulw?|mulhs?u?|clmul[hr]?', 3),
    (r'(div|rem)u?w', 4), (r'(div|rem)u?', 5), (r'b(eq|ne|lt|ge)u?|jalr?', 6),
    (r'f(add|sub|min|max|le|lt|eq|class)\..*', 7), (r'fmul\..*', 8),
    (r'fn?m(add|sub)\..*', 9), (r'fdiv\..*', 10), (r'fsqrt\..*', 11),
    (r'fcvt\..*', 12), (r'fsgnj[nx]?\..*', 13), (r'fmv\..*', 16),
    (r'(sc|amo\w+)\..*', 17), (r'csrr.*|fence.*|cbo\..*|e(call|break)|wrs\..*', 18),
    (r'.*', 1))]
RV_UNKNOWN = ('.2byte', '.4byte', '.word', '.short', '')


def rv_parts(text):
    """An instruction as its name, its registers and its numbers; a target has no
    0x in front."""
    name, _, operands = text.partition('\t')
    words = re.findall(r'-?[\w.]+', operands.replace('unknown', '0'))
    aims = name in RV_CONDITIONS or name in ('jal', 'c.j', 'c.beqz', 'c.bnez')
    return (name, *(
        int(w, 16) if aims and w is words[-1] else
        RV_CSRS[w] if w in RV_CSRS else
        int(w, 0) if re.match(r'-?(0x[0-9a-f]+|\d+)$', w) else w for w in words))


def rv_expand(parts):
    """The 32-bit instruction that objdump's compressed one stands for."""
    name, *o = parts
    if not name.startswith('c.'):
        return parts
    name = name[2:]
    if name in ('addi', 'addiw', 'andi', 'sub', 'xor', 'or', 'and', 'subw', 'addw',
                'add', 'slli', 'srli', 'srai'):
        return (name, o[0], *o)
    if name in ('slli64', 'srli64', 'srai64'):
        return (name[:-2], o[0], o[0], 0)
    if name == 'addi16sp':
        return ('addi', *o[:1], *o)
    return {'nop': lambda: ('addi', 'zero', 'zero', *(o or [0])),
            'li': lambda: ('addi', o[0], 'zero', o[1]),
            'mv': lambda: ('add', o[0], 'zero', o[1]),
            'addi4spn': lambda: ('addi', *o),
            'jr': lambda: ('jalr', 'zero', 0, o[0]),
            'jalr': lambda: ('jalr', 'ra', 0, o[0]),
            'j': lambda: ('jal', 'zero', o[0]),
            'beqz': lambda: ('beq', o[0], 'zero', o[1]),
            'bnez': lambda: ('bne', o[0], 'zero', o[1]),
            }.get(name, lambda: (name.removesuffix('sp'), *o))()


def rv_alias(parts):
    """What the decoder's text calls an instruction."""
    match parts:
        case ('addi', 'zero', 'zero', 0):
            return ('nop',)
        case ('addi', d, 'zero', number):
            return ('li', d, number)
        case ('addi', d, s, 0) | ('add', d, 'zero', s):
            return ('mv', d, s)
        case ('xori', d, s, -1):
            return ('not', d, s)
        case ('sub', d, 'zero', s):
            return ('neg', d, s)
        case ('addiw', d, s, 0):
            return ('sext.w', d, s)
        case ('sltiu', d, s, 1):
            return ('seqz', d, s)
        case ('sltu', d, 'zero', s):
            return ('snez', d, s)
        case ('beq' | 'bne', s, 'zero', target):
            return (parts[0] + 'z', s, target)
        case ('jal', 'zero', target):
            return ('j', target)
        case ('jalr', 'zero', 0, 'ra'):
            return ('ret',)
        case ('jalr', 'zero', 0, s):
            return ('jr', s)
        case ('jalr', 'ra', 0, s):
            return ('jalr', s)
    return parts


def rv_branch(name, o):
    """(kind, target), or None."""
    if name in RV_CONDITIONS:
        same = o[0] == o[1] or (name.endswith('u') and o[1] == 'zero')
        sure = B_JUMP if name in ('beq', 'bge', 'bgeu') else B_NEVER
        return (sure if same else B_COND), o[2]
    if name == 'jal':
        return (B_CALL if o[0] in ('ra', 't0') else B_JUMP), o[1]
    if name == 'jalr':
        if o[0] in ('ra', 't0'):
            return B_INDIRECT_CALL, 0
        return (B_RETURN if o[2] in ('ra', 't0') else B_INDIRECT), 0
    return None


def rv_access(name):
    """(class, access, size, flags), or None."""
    if re.match(r'prefetch\.', name):
        return LOAD, A_NONE, 0, F_PREFETCH
    match = re.match(r'(lr|sc|amo\w+)\.([wd])(\.aq|\.rl|\.aqrl)?$', name)
    if match:
        size = RV_BYTES[match[2]]
        return {'lr': (LOAD, A_LOAD, size, 0),
                'sc': (STORE, A_MIXED, size, F_CONDITIONAL)}.get(
                    match[1], (ATOMIC, A_ATOMIC, size, 0))
    match = re.match(r'(f?)([ls])([bhwd]u?)$', name)
    if not match:
        return None
    load = match[2] == 'l'
    return (LOAD if load else STORE, A_LOAD if load else A_STORE,
            RV_BYTES[match[3]], F_FLOAT if match[1] and load else 0)


def rv_flags(name):
    """(class, flags) of what is neither a branch nor an access, or None."""
    if RV_FP_ANY.match(name):
        return FGU, F_FP | F_SHARED_FPU if RV_FP.match(name) else 0
    if RV_INTEGER.match(name) or re.match(r'csrr|cbo\.|fence\.i$', name):
        return OTHER, 0
    for pattern, flag in ((RV_MULDIV, F_MULDIV), (r'fence(\.tso)?$', F_MEMBAR),
                          (r'e(call|break)$', F_SYSCALL),
                          (r'(pause|wrs\.[ns]to)$', F_PAUSE)):
        if re.match(pattern, name):
            return OTHER, flag
    return None


def rv_writes(name, klass, o):
    """The general registers that the text says are written."""
    if name == 'ecall':
        return 0xfffffffe
    if name in RV_CONDITIONS or (klass == STORE and not name.startswith('sc')) or \
            re.match(r'prefetch|fence|cbo', name) or not o or \
            o[0] not in RV_REGISTERS:
        return 0
    return 1 << RV_REGISTERS.index(o[0]) & 0xfffffffe


def rv_bits(names):
    """The registers among these, a bit each, as struct insn_operands has them."""
    return sum(1 << (RV_REGISTERS + RV_FLOATS).index(name) for name in set(names)
               if name in RV_REGISTERS[1:] or name in RV_FLOATS)


def rv_operands(name, o):
    """[known, reads, address, changes, operation, loads, stores]."""
    sets_first = not re.match(r'(f?s[bhwd]|b(eq|ne|lt|ge)u?|prefetch.*|cbo.*)$', name)
    atomic = re.match(r'(lr|sc|amo\w+)\.', name)
    accesses = atomic or re.match(r'(f?[ls][bhwd]u?$|prefetch|cbo)', name)
    last = o[-1:] if accesses else []
    changes = rv_bits(o[:1] if sets_first else [])
    reads = rv_bits(o[sets_first:len(o) - len(last)])
    csr = [key for key, number in RV_CSRS.items() if o[1:2] == [number]]
    whole = ' '.join([name, *csr, 'z' if o[2:] in (['zero'], [0]) else '-']
                     if name.startswith('csrr') and csr else [name])
    operation = next(n for pattern, n in RV_OPERATIONS if pattern.fullmatch(whole))
    if operation == 1 and changes == 0:  # a hint
        operation = reads = 0
    return [1, reads, rv_bits(last), changes, operation,
            int(bool(re.match(r'f?l[bhwd]u?$|lr|amo', name))),
            int(bool(re.match(r'f?s[bhwd]$|sc|amo', name)))]


def rv_lenient(word):
    """Words that objdump does not take: fields of fences that are to be ignored,
    and rounding modes of conversions without rounding."""
    opcode, funct3 = word & 0x7f, word >> 12 & 7
    if opcode == 0x0f:
        return funct3 < 2
    of, to, source = word >> 27, word >> 25 & 3, word >> 20 & 31
    exact = (of == 8 and to != 3 and source < 3 and source != to and
             (to == 1 or source == 2)) or \
        (of == 0x1a and to == 1 and source < 2)
    return opcode == 0x53 and exact and funct3 not in (5, 6)


def rv_expect(word, text):
    """A dict of what must hold."""
    parts = rv_parts(text)
    if parts[0] in RV_UNKNOWN:
        return {'lenient': True} if rv_lenient(word) else {'illegal': True}
    # Of modes above user mode, rounded by 5 or 6, and reserved.
    if RV_PRIVILEGED.match(parts[0]) or parts == ('c.addi16sp', 'sp', 0) or (
            parts[0][0] == 'f' and 'unknown' in text and 'fence' not in text):
        return {'illegal': True}
    name, *o = parts = rv_expand(parts)
    if name.startswith('csrr'):
        number = word >> 20
        writes = name[4:5] == 'w' or o[-1] not in ('zero', 0)
        if number >> 8 & 3 or (writes and number >> 10 == 3):
            return {'illegal': True}
        parts = (name, o[0], number, o[2])
    want = {'class': OTHER, 'branch': B_NONE, 'access': A_NONE, 'size': 0,
            'flags': 0, 'target': 0, 'text': rv_alias(parts)}
    branch, access, other = rv_branch(name, o), rv_access(name), rv_flags(name)
    if branch:
        want |= {'class': BRANCH, 'branch': branch[0], 'target': branch[1]}
    elif access:
        want |= dict(zip(('class', 'access', 'size', 'flags'), access))
    elif other:
        want |= dict(zip(('class', 'flags'), other))
    else:
        return {'unknown': True}
    want['writes'] = rv_writes(name, want['class'], o)
    want['operands'] = rv_operands(name, o)
    return want


def rv_mismatch(row, got):
    _, code, text = row
    want = rv_expect(int(code, 16), text)
    size, klass, branch, target, access, access_size, loads, stores = got[:8]
    flags, writes, own, needs = got[8], got[9], got[12], got[13]
    if needs[0] == bool(flags & F_ILLEGAL):
        return f'operands known: {needs[0]}'
    if size != len(code) // 2:
        return f'size {size}'
    if want.get('unknown'):
        return 'a mnemonic of no known class'
    if want.get('illegal'):
        shown = f'0x{code}'
        return None if flags & F_ILLEGAL and own == shown else f'legal, {own}'
    if flags & F_ILLEGAL:
        return 'illegal'
    if want.get('lenient'):
        return None
    name, _, operands = own.partition(' ')
    aims = name[0] in 'bj' and operands and not name.startswith(('jalr', 'jr'))
    said = rv_parts(f'{name}\t{operands}')
    if aims and name in ('j', 'beqz', 'bnez', 'jal', *RV_CONDITIONS):
        said = (*said[:-1], target)
        if f'{target:#x}' != operands.split(', ')[-1]:
            return f'{own}: not to {target:#x}'
    for key, value in (('class', klass), ('branch', branch), ('target', target),
                       ('access', access), ('size', access_size),
                       ('flags', flags), ('writes', writes)):
        if want[key] != value:
            return f'{key} {value:#x}, expected {want[key]:#x}'
    if want['text'] != said:
        return f'{own!r}: {said}, expected {want["text"]}'
    if want['operands'] != needs:
        return f'operands {needs}, expected {want["operands"]}'
    both = klass == ATOMIC
    if (loads, stores) != (both or (klass == LOAD and access != A_NONE),
                           both or klass == STORE):
        return f'{loads} loads and {stores} stores'
    return None


def rv_words():
    """Each word of 16 bits; of 32 bits each operation with several settings of
    its other fields, those that registers' fields tell apart with each, and
    random words. Those of 48 bits and more end in five ones."""
    rng = random.Random(SEED)
    yield from ((2, half) for half in range(1 << 16) if half & 3 != 3)
    opcodes = [n << 2 | 3 for n in range(32) if n & 7 != 7]
    for opcode, funct3, funct7 in itertools.product(opcodes, range(8), range(128)):
        for _ in range(2):
            word = rng.getrandbits(32) & ~0xfe00707f
            for field in (0x01f00000, 0x000f8000, 0x00000f80):
                if rng.getrandbits(2) == 0:
                    word &= ~field
            yield 4, word | funct7 << 25 | funct3 << 12 | opcode
    for opcode, funct7, rs2 in itertools.product(
            (0x13, 0x1b, 0x3b, 0x53, 0x0f, 0x73, 0x2f), range(128), range(32)):
        word = rng.getrandbits(32) & ~0xfff0007f | funct7 << 25 | rs2 << 20 | opcode
        yield 4, word
        yield 4, word & ~0xff000
        yield 4, word & ~0xf80
        yield 4, word & ~0xfff80 | 2 << 12
    # Fences and registers of the processor.
    for number in range(1 << 12):
        yield 4, number << 20 | rng.getrandbits(13) << 7 & 0x7ff80 | 0x73
        yield 4, number << 20 | 0x0f
    for _ in range(100000):
        yield 4, rng.choice(opcodes) | rng.getrandbits(25) << 7


def check_rv(dump, objdump, files):
    """The words go through an assembler, as objdump knows only the extensions
    that a file names."""
    options = ['-M', 'no-aliases']
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/words.s', 'w', encoding='ascii') as file:
            file.write(f'.attribute arch, "{RV_ARCH}"\n')
            file.writelines(f'.insn {size}, {word}\n' for size, word in rv_words())
        subprocess.run([objdump.removesuffix('objdump') + 'as', '-o',
                        f'{folder}/words.o', f'{folder}/words.s'], check=True)
        rows = list(disassemble(objdump, options, f'{folder}/words.o'))
    assert len(rows) == sum(1 for _ in rv_words())
    for path in files:
        rows += disassemble(objdump, options, path)
    rows = [(a, c, re.sub(r' <.*', '', t)) for a, c, t in rows]
    in_memory = [(a, bytes.fromhex(c)[::-1].hex(), t) for a, c, t in rows]
    code = ''.join(f'{address:x} {code}\n' for address, code, _ in in_memory)
    texts, operands = (
        subprocess.run([dump, 'riscv64', what], input=code, text=True, check=True,
                       capture_output=True).stdout.splitlines()
        for what in ('text', 'operands'))
    decoded = decode(dump, 'riscv64', in_memory)
    assert len(texts) == len(operands) == len(decoded)
    return rows, [[*got, text, [int(n) for n in line.split()]] for got, text, line
                  in zip(decoded, texts, operands)], rv_mismatch


def check_rows(path, assembler, *options):
    """Prints the rows whose comment does not assemble to their bytes."""
    name = path.rpartition('/')[2]
    row = re.compile(r'\w+\("?(?:0x)?([0-9a-f]+)"?.*\), /\* (.*) \*/$')
    with open(path, encoding='ascii') as file:
        rows = [match.groups() for match in map(row.match, file) if match]
    with tempfile.TemporaryDirectory() as folder:
        source, listing = f'{folder}/rows.s', f'{folder}/rows.lst'
        with open(source, 'w', encoding='ascii') as file:
            if 'x86' in name:
                file.write('.intel_syntax noprefix\n')
            if 'mips' in name:
                file.write('.set noreorder\n.set nomacro\n.set noat\n')
            if 'riscv' in name:  # no row is made shorter, or left to the linker
                file.write('.option norelax\n.option norvc\n')
                rows = [(code, f'.option rvc\n{text}\n.option norvc'
                         if text.startswith('c.') else text) for code, text in rows]
            file.writelines(f'{text}\n' for _, text in rows)
        subprocess.run([assembler, *options, f'-al={listing}',
                        '--listing-lhs-width=4', '-o', '/dev/null', source],
                       check=True, stderr=subprocess.DEVNULL)
        line = re.compile(r' *\d+ [0-9a-f]{4} ([0-9A-F ]+?)\s*\t')
        with open(listing, encoding='ascii') as file:
            made = [match[1].replace(' ', '').lower()
                    for match in map(line.match, file) if match]
    if 'mips' in name:  # the last one is padded
        made = [got[:8] for got in made]
    if 'aarch64' in name or 'riscv' in name:  # the listing has the order of memory
        made = [bytes.fromhex(got)[::-1].hex() for got in made]
    wrong = [f'{want} {text}: {got}'
             for (want, text), got in zip(rows, made) if want != got]
    print(*wrong, f'{path}: {len(rows)} rows, {len(wrong)} wrong', sep='\n')
    return len(rows) != len(made) or not rows or bool(wrong)


def main():
    isa, *args = sys.argv[1:]
    if not shutil.which(args[1]):
        return 77
    if isa == 'rows':
        return check_rows(*args)
    check = {'sparc64': check_sparc, 'x86-64': check_x86,
             'aarch64': check_a64, 'riscv64': check_rv,
             'mips64': functools.partial(check_mips, isa),
             'mips64el': functools.partial(check_mips, isa)}[isa]
    dump, objdump, *files = args
    # The compiler names a file that it does not find without a folder.
    if not all(os.path.isabs(path) for path in files):
        print(f'{isa}: no C library of this architecture is installed')
        return 77
    rows, decoded, mismatch = check(dump, objdump, files)
    assert len(rows) == len(decoded)
    problems = [(row, mismatch(row, got)) for row, got in zip(rows, decoded)]
    problems = [(row, problem) for row, problem in problems if problem]
    for (address, code, text), problem in problems[:40]:
        print(f'{address:#x}: {code} {text}: {problem}')
    legal = sum(not got[8] & F_ILLEGAL for got in decoded)
    print(f'{isa}: {len(rows)} instructions, {legal} legal, seed {SEED}, '
          f'{len(problems)} mismatches')
    return bool(problems) or not rows


if __name__ == '__main__':
    sys.exit(main())
