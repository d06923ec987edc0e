-- SPDX-License-Identifier: MIT
--
-- lua bench.lua [SCALE]: a fixed mix of what Lua programs do: recursion,
-- sorting, building and searching strings, closures and tables of objects.
-- Prints a checksum; for a given SCALE (default 15) the work is always the
-- same, since the numbers come from a generator of its own.

local scale = tonumber(arg and arg[1]) or 15

local function generator(seed)
    local state = seed
    return function(limit)
        state = (state * 1103515245 + 12345) % 2147483648
        return state // 65536 % limit + 1
    end
end

local function fibonacci(n)
    if n < 2 then
        return n
    end
    return fibonacci(n - 1) + fibonacci(n - 2)
end

local function sort()
    local random = generator(1)
    local numbers = {}
    for i = 1, 2000 do
        numbers[i] = random(32768)
    end
    table.sort(numbers)
    table.sort(numbers, function(a, b)
        return a % 256 < b % 256 or a % 256 == b % 256 and a < b
    end)
    return numbers[1] + numbers[1000] + numbers[2000]
end

local function strings()
    local random = generator(2)
    local parts = {}
    for i = 1, 1000 do
        parts[i] = string.format("word%d=%x", random(100), i)
    end
    local text = table.concat(parts, " ")
    local seen = {}
    for key, value in text:gmatch("(%a+%d+)=(%x+)") do
        seen[key] = (seen[key] or 0) + tonumber(value, 16)
    end
    local replaced, count = text:gsub("word1", "WORD")
    return seen.word7 + #replaced + count
end

local function closures()
    local function adder(n)
        return function(x)
            return x + n
        end
    end
    local sum = 0
    for i = 1, 4000 do
        sum = adder(i)(sum) % 65536
    end
    return sum
end

local Point = {}
Point.__index = Point
Point.__add = function(a, b)
    return setmetatable({ x = a.x + b.x, y = a.y + b.y }, Point)
end

function Point:norm()
    return (self.x * self.x + self.y * self.y) ^ 0.5
end

local function objects()
    local random = generator(3)
    local sum = setmetatable({ x = 0.0, y = 0.0 }, Point)
    for _ = 1, 3000 do
        sum = sum + setmetatable({ x = random(10), y = -random(10) }, Point)
    end
    return math.floor(sum:norm())
end

local checksum = 0
for _ = 1, scale do
    for _, work in ipairs { sort, strings, closures, objects } do
        checksum = (checksum * 31 + work()) % 1000000007
    end
    checksum = (checksum * 31 + fibonacci(18)) % 1000000007
end
print(checksum)
