// A filter in shared memory over every second or fourth position, and a compare of what it lets pass, in one kernel.
//
// A warp takes a chunk: LANES x 4 rows of 16 bytes, each lane its part of every row. It looks windows of the text up in
// a table in shared memory and notes what passed in 32 bits a lane. Then the candidates of all lanes are lined up in a
// queue, and the lanes take one each: first the window's hash is looked up in a second bitmap, what is left is compared
// with the patterns of its slot. The loads of the next chunk are on their way meanwhile.
//
// The layout of tables and entries is that of the host half, engine/gpu_filter/tables.rs.

#define ROWS 4
#define CHUNK (LANES * ROWS * 16)
// Room of a warp in shared memory, in words.
#define TEXT_WORDS ((CHUNK + 32) / 4)
#define QUEUE (8 * LANES)
#define QUEUE_WORDS ((QUEUE + 1) / 2)
#define SURVIVORS (2 * LANES)
#define RECORDS (3 * LANES)
#define WARP_WORDS ((TEXT_WORDS + 4 * LANES + 6 * SURVIVORS + 2 * RECORDS + 3) / 4 * 4)

// Patterns that do not exist: the ends of a run of the byte in their low bits. The host half has the same.
#define RUN_START 0x80000000u
#define RUN_END 0xC0000000u

#define SPREAD 0x9E3779B1u
#define SPREAD_3 (SPREAD << 8)
#define SPREAD_WIDE 0xC2B2AE35u
#define MIX_NIBBLES 0x85EBCA6Bu
#define MIX 0x2C1B3C6Du

typedef struct {
    GLOBAL const u8 *text;
    u32 bytes, lead;
    LOCAL const u32 *table;
    u32 table_shift, table_mask;
    LOCAL const u32 *bitmap;
    GLOBAL const u32 *bitmap_far;
    u32 bitmap_shift, slot_shift;
    GLOBAL const u32 *slots;
    GLOBAL const uint4 *entries;
    GLOBAL const u8 *rest;
    // A bit for each byte that has patterns of it alone, and then one for each of those whose patterns are all of six
    // bytes or more.
    GLOBAL const u32 *runs;
    GLOBAL u32 *output;
    u32 capacity;
    // Of the warp.
    LOCAL u32 *words;
    LOCAL u16 *queue;
    LOCAL u32 *survivors;
    LOCAL u32 *records;
} Filter;

// Places of the output for so many records. The count stops at 2^31, so that it never comes round to 0.
FUNCTION u32 places(GLOBAL u32 *output, u32 count) {
    return *(GLOBAL volatile u32 *)output > 0x80000000u ? ~0u - count : ATOMIC_ADD(output, count);
}

// Writes a warp's records behind one another: output is {matches, candidates, -, -} and then {end, pattern} each.
FUNCTION void flush(const Filter *f, u32 count) {
    u32 first = 0;
    if (LANE == 0) first = places(f->output, count);
    first = SHUFFLE(first, 0);
    WARP_SYNC();
    for (u32 i = LANE; i < count; i += LANES) {
        if (first + i < f->capacity) {
            f->output[4 + 2 * (first + i)] = f->records[2 * i];
            f->output[5 + 2 * (first + i)] = f->records[2 * i + 1];
        }
    }
    WARP_SYNC();
}

// Adds the records of the lanes that have one; gives how many are held now.
FUNCTION u32 emit(const Filter *f, u32 held, bool has, u32 end, u32 pattern) {
    u32 who = BALLOT(has);
    if (who == 0) return held;
    if (has) {
        u32 place = held + POPCOUNT(who & LANES_BELOW);
        f->records[2 * place] = end;
        f->records[2 * place + 1] = pattern;
    }
    held += POPCOUNT(who);
    if (held > RECORDS - LANES) {
        WARP_SYNC();
        flush(f, held);
        held = 0;
    }
    return held;
}

FUNCTION bool has_bit(GLOBAL const u32 *bits, u32 at) { return bits[at >> 5] >> (at & 31) & 1; }

// A candidate in a run of equal bytes: where the run begins and where it ends are written, as records of patterns that do
// not exist, and the host pairs them. w0..w3 are the bytes from p - 6 on, x those from p on. Returns whether the candidate
// is no more than a part of a run.
FUNCTION bool edges_of_run(const Filter *f, u32 p, u32 w0, u32 w1, u32 x, u32 w2, u32 *start, u32 *end) {
    const u32 byte = x & 255;
    if (((x ^ byte * 0x010101u) & 0xffffff) != 0 || p + 2 >= f->bytes || !has_bit(f->runs, byte)) return false;
    // Bytes beside the window, those outside of the text left out.
    bool before1 = p >= 1 && (w1 >> 8 & 255) == byte, before2 = p >= 2 && (w1 & 255) == byte;
    bool before3 = p >= 3 && w0 >> 24 == byte;
    bool after1 = p + 3 < f->bytes && x >> 24 == byte, after2 = p + 4 < f->bytes && (w2 >> 16 & 255) == byte;
    bool after3 = p + 5 < f->bytes && w2 >> 24 == byte;
    if (has_bit(f->runs + 8, byte)) {
        // Five equal bytes around p: every run of six has such a p, and the first and the last tell its ends.
        if (before1 && after1) {
            if (!(before2 && before3)) *start = p - (before2 ? 2 : 1);
            if (!(after2 && after3)) *end = p + 4 + (after2 ? 1 : 0);
        }
    } else if (before1 || after1) {
        // Four equal bytes: every run of four has such a p.
        if (!(before1 && before2)) *start = p - (before1 ? 1 : 0);
        if (!(after1 && after2)) *end = p + 3 + (after1 ? 1 : 0);
    }
    return before1 && after1;
}

FUNCTION u8 lower(u8 byte) { return byte >= 'A' && byte <= 'Z' ? byte + 32 : byte; }

// Compares what an entry's window does not cover: pattern bytes before k - 6 and from k + 10 on, up to `checked`.
FUNCTION bool rest_matches(const Filter *f, u32 from, u32 k, u32 checked, u32 at, bool nocase) {
    GLOBAL const u8 *text = f->text + from;
    GLOBAL const u8 *pattern = f->rest + at;
    for (u32 j = 0; j + 6 < k; j++) {
        u8 byte = nocase ? lower(text[j]) : text[j];
        if (byte != pattern[j]) return false;
    }
    for (u32 j = k + 10; j < checked; j++) {
        u8 byte = nocase ? lower(text[j]) : text[j];
        if (byte != pattern[j]) return false;
    }
    return true;
}

// Compares up to LANES survivors with the patterns of their slots. An entry is three 16-byte words: bytes, mask, and
// {pattern, length << 16 | k, offset of the rest or ~0, checked length << 1 | nocase}.
FUNCTION u32 compare(const Filter *f, u32 count, u32 held) {
    u32 p = 0, next = 0, end = 0, w0 = 0, w1 = 0, w2 = 0, w3 = 0;
    if (LANE < count) {
        LOCAL const u32 *s = f->survivors + LANE;
        p = s[0];
        u32 slot = s[SURVIVORS];
        w0 = s[2 * SURVIVORS], w1 = s[3 * SURVIVORS], w2 = s[4 * SURVIVORS], w3 = s[5 * SURVIVORS];
        next = f->slots[slot];
        end = f->slots[slot + 1];
    }
    while (ANY(next < end)) {
        bool has = false;
        u32 match_end = 0, pattern = 0;
        if (next < end) {
            uint4 bytes = f->entries[3 * (u64)next], mask = f->entries[3 * (u64)next + 1];
            u32 wrong = ((bytes.x ^ w0) & mask.x) | ((bytes.y ^ w1) & mask.y) | ((bytes.z ^ w2) & mask.z) |
                        ((bytes.w ^ w3) & mask.w);
            if (wrong == 0) {
                uint4 about = f->entries[3 * (u64)next + 2];
                u32 length = about.y >> 16, k = about.y & 0xffff;
                if (p >= k && p - k + length <= f->bytes && p - k + length > f->lead) {
                    has = about.z == ~0u ||
                          rest_matches(f, p - k, k, about.w >> 1, about.z, about.w & 1);
                    match_end = p - k + length;
                    pattern = about.x;
                }
            }
            next++;
        }
        held = emit(f, held, has, match_end, pattern);
    }
    return held;
}

// The second test of candidates, one a lane, at byte `offset` of the chunk. `state` is survivors | records held << 16.
FUNCTION u32 sift(const Filter *f, u32 chunk, u32 offset, bool is, u32 state, const int stride, const int runs, const int wide) {
    u32 waiting = state & 0xffff, held = state >> 16;
    u32 w0 = 0, w1 = 0, w2 = 0, w3 = 0, hash = 0, start = ~0u, end = ~0u, byte = 0;
    bool passes = false;
    if (is) {
        // 16 bytes of text from 6 before the candidate on; the copy begins 16 before the chunk.
        LOCAL const u32 *from = f->words + ((offset + 10) >> 2);
        u32 by = ((offset + 10) & 3) * 8;
        u32 x0 = from[0], x1 = from[1], x2 = from[2], x3 = from[3], x4 = from[4];
        w0 = FUNNEL(x0, x1, by), w1 = FUNNEL(x1, x2, by), w2 = FUNNEL(x2, x3, by), w3 = FUNNEL(x3, x4, by);
        u32 x = FUNNEL(w1, w2, 16);
        bool is_inside = false;
        if (runs) {
            byte = x & 255;
            is_inside = edges_of_run(f, chunk + offset, w0, w1, x, w2, &start, &end);
        }
        if (stride == 2) {
            u32 nibbles = (w1 >> 8 & 15) << 4 | (x >> 24 & 15);
            hash = x * SPREAD_3 + nibbles * MIX_NIBBLES;
        } else {
            hash = x * SPREAD;
            if (wide) hash += FUNNEL(w2, w3, 16) * SPREAD_WIDE;
        }
        hash = (hash ^ hash >> 15) * MIX;
        u32 bit = hash >> f->bitmap_shift;
        u32 word = f->bitmap_far ? f->bitmap_far[bit >> 5] : f->bitmap[bit >> 5];
        passes = word >> (bit & 31) & !is_inside;
    }
    if (runs) {
        held = emit(f, held, start != ~0u, start, RUN_START | byte);
        held = emit(f, held, end != ~0u, end, RUN_END | byte);
    }
    u32 who = BALLOT(passes);
    if (who == 0) return waiting | held << 16;
    if (passes) {
        LOCAL u32 *s = f->survivors + waiting + POPCOUNT(who & LANES_BELOW);
        s[0] = chunk + offset;
        s[SURVIVORS] = hash >> f->slot_shift;
        s[2 * SURVIVORS] = w0, s[3 * SURVIVORS] = w1, s[4 * SURVIVORS] = w2, s[5 * SURVIVORS] = w3;
    }
    waiting += POPCOUNT(who);
    WARP_SYNC();
    if (waiting >= LANES) {
        held = compare(f, LANES, held);
        waiting -= LANES;
        u32 kept[6];
        LOCAL u32 *s = f->survivors + LANE;
        UNROLL
        for (int i = 0; i < 6; i++) kept[i] = LANE < waiting ? s[i * SURVIVORS + LANES] : 0;
        WARP_SYNC();
        UNROLL
        for (int i = 0; i < 6; i++)
            if (LANE < waiting) s[i * SURVIVORS] = kept[i];
        WARP_SYNC();
    }
    return waiting | held << 16;
}

// Looks a lane's row up: one bit for each second or fourth position, first position highest.
FUNCTION u32 look_up_2(const Filter *f, u32 before, uint4 row, u32 after, const int runs, bool inner) {
    u32 w[6] = {before, row.x, row.y, row.z, row.w, after};
    u32 hits = 0;
    u32 low = before & 0x0f0f0f0fu, last = low >> 24;
    low = w[1] & 0x0f0f0f0fu;
    u32 second = low >> 8;
    LOCAL const u8 *table = (LOCAL const u8 *)f->table;
    UNROLL
    for (int j = 1; j < 5; j++) {
        // The nibble after the window of position 0 is that of byte 3, before the window of position 2 that of byte 1.
        u32 third = low >> 24;
        low = w[j + 1] & 0x0f0f0f0fu;
        u32 next = low >> 8;
        u32 at = w[j] * SPREAD_3 >> f->table_shift & f->table_mask;
        u32 word = *(LOCAL const u32 *)(table + at);
        hits = hits * 2 + (word << (last & 15) & word >> (third & 15) & 0x8000u);
        u32 x = FUNNEL(w[j], w[j + 1], 16);
        at = x * SPREAD_3 >> f->table_shift & f->table_mask;
        word = *(LOCAL const u32 *)(table + at);
        hits = hits * 2 + (word << (second & 15) & word >> (next & 15) & 0x8000u);
        last = third;
        second = next;
    }
    if (runs && inner && (hits & hits >> 1 & hits >> 2)) {
        // Inside of a run nothing begins or ends: words that are all one byte, between two that are the same.
        UNROLL
        for (int j = 1; j < 5; j++)
            if (w[j] == w[j - 1] && w[j] == w[j + 1] && w[j] == FUNNEL(w[j], w[j], 8) && has_bit(f->runs, w[j] & 255))
                hits &= ~(0x18000u << (8 - 2 * j));
    }
    return hits >> 15;
}

FUNCTION u32 look_up_4(const Filter *f, uint4 row, u32 after, const int wide) {
    u32 w[5] = {row.x, row.y, row.z, row.w, after};
    u32 hits = 0;
    LOCAL const u8 *table = (LOCAL const u8 *)f->table;
    UNROLL
    for (int j = 0; j < 4; j++) {
        u32 hash = w[j] * SPREAD;
        if (wide) hash += w[j + 1] * SPREAD_WIDE;
        u32 word = *(LOCAL const u32 *)(table + (hash >> f->table_shift & f->table_mask));
        hits = hits * 2 + (word >> (hash >> 7 & 31) & 1);
    }
    return hits;
}

FUNCTION void scan(Filter f, u32 chunks, const int stride, const int runs, const int wide) {
    const u32 warps = GROUPS * (ITEMS / LANES);
    u32 chunk = GROUP * (ITEMS / LANES) + WARP;
    if (chunk >= chunks) return;
    GLOBAL const uint4 *input = (GLOBAL const uint4 *)f.text;
    LOCAL uint4 *copy = (LOCAL uint4 *)f.words;
    u32 state = 0, seen = 0;
    uint4 row[ROWS], front = UINT4(0, 0, 0, 0), back = UINT4(0, 0, 0, 0);
    UNROLL
    for (int k = 0; k < ROWS; k++) row[k] = input[(u64)chunk * (ROWS * LANES) + k * LANES + LANE];
    if (LANE == 0) front = *(input + (u64)chunk * (ROWS * LANES) - 1);
    if (LANE == LANES - 1) back = input[(u64)(chunk + 1) * (ROWS * LANES)];
    for (;;) {
        // What stands before the text must not look like the beginning of a run that goes on.
        if (runs && chunk == 0 && LANE == 0) front.w = ~row[0].x;
        if (LANE == 0) copy[0] = front;
        if (LANE == LANES - 1) copy[1 + ROWS * LANES] = back;
        UNROLL
        for (int k = 0; k < ROWS; k++) copy[1 + k * LANES + LANE] = row[k];
        u32 hits = 0;
        if (stride == 2) {
            u32 carried = front.w, right = SHUFFLE(row[0].x, (LANE + 1) & (LANES - 1));
            UNROLL
            for (int k = 0; k < ROWS; k++) {
                u32 left = SHUFFLE(row[k].w, (LANE + LANES - 1) & (LANES - 1));
                u32 before = LANE ? left : carried;
                carried = left;
                u32 first = k < ROWS - 1 ? SHUFFLE(row[k < ROWS - 1 ? k + 1 : k].x, (LANE + 1) & (LANES - 1)) : back.x;
                u32 after = LANE < LANES - 1 ? right : first;
                right = first;
                hits = hits << 8 | look_up_2(&f, before, row[k], after, runs, chunk + 2 < chunks);
            }
        } else {
            UNROLL
            for (int k = 0; k < ROWS; k++) {
                u32 after = 0;
                if (wide) {
                    u32 right = SHUFFLE(row[k].x, (LANE + 1) & (LANES - 1));
                    u32 first = k < ROWS - 1 ? SHUFFLE(row[k < ROWS - 1 ? k + 1 : k].x, (LANE + 1) & (LANES - 1)) : back.x;
                    after = LANE < LANES - 1 ? right : first;
                }
                hits = hits << 4 | look_up_4(&f, row[k], after, wide);
            }
            hits <<= 16;
        }
        const u32 base = chunk * CHUNK, mine = LANE * 16;
        chunk += warps;
        bool more = chunk < chunks;
        if (more) {
            UNROLL
            for (int k = 0; k < ROWS; k++) row[k] = input[(u64)chunk * (ROWS * LANES) + k * LANES + LANE];
            if (LANE == 0) front = *(input + (u64)chunk * (ROWS * LANES) - 1);
            if (LANE == LANES - 1) back = input[(u64)(chunk + 1) * (ROWS * LANES)];
        }
        // Bit b from the top is position b * stride of the lane's 16 bytes of row b / (16 / stride).
        const u32 row_log = stride == 2 ? 3 : 2, low = (1u << row_log) - 1;
        if (ANY(hits != 0)) {
            u32 count = POPCOUNT(hits), below = SUM_BELOW(count);
            u32 total = SHUFFLE(below + count, LANES - 1);
            seen += count;
            WARP_SYNC();
            if (LANES == 1 || total > QUEUE) {
                while (ANY(hits != 0)) {
                    bool is = hits != 0;
                    u32 b = is ? LEADING_ZEROS(hits) : 0;
                    hits &= ~(0x80000000u >> b);
                    state = sift(&f, base, mine + (b >> row_log) * (16 * LANES) + (b & low) * stride, is, state, stride, runs, wide);
                }
            } else {
                LOCAL u16 *to = f.queue + below;
                while (hits) {
                    u32 b = LEADING_ZEROS(hits);
                    hits ^= 0x80000000u >> b;
                    *to++ = (u16)(mine + (b >> row_log) * (16 * LANES) + (b & low) * stride);
                }
                WARP_SYNC();
                for (u32 i = 0; i < total; i += LANES) {
                    bool is = i + LANE < total;
                    state = sift(&f, base, is ? f.queue[i + LANE] : 0, is, state, stride, runs, wide);
                }
            }
        }
        WARP_SYNC();
        if (!more) break;
    }
    u32 held = state >> 16;
    if (state & 0xffff) held = compare(&f, state & 0xffff, held);
    if (held) {
        WARP_SYNC();
        flush(&f, held);
    }
    if (seen) ATOMIC_ADD(f.output + 1, seen);
}

#define FILTER_ARGS                                                                                                     \
    GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 lead, GLOBAL const u32 *RESTRICT table, u32 table_log,       \
        GLOBAL const u32 *RESTRICT bitmap, u32 bitmap_log, u32 bitmap_is_near, GLOBAL const u32 *RESTRICT slots,        \
        u32 slot_log, GLOBAL const uint4 *RESTRICT entries, GLOBAL const u8 *RESTRICT rest,                             \
        GLOBAL const u32 *RESTRICT run_bytes, GLOBAL u32 *RESTRICT output, u32 capacity SHARED(shared)

#define FILTER(stride, with_runs, wide)                                                                                                  \
    {                                                                                                                   \
        SHARED_HERE(shared)                                                                                             \
        LOCAL u32 *words = (LOCAL u32 *)shared;                                                                         \
        const u32 table_words = 1u << table_log, bitmap_words = bitmap_is_near ? 1u << (bitmap_log - 5) : 0;           \
        for (u32 i = ITEM; i < table_words; i += ITEMS) words[i] = table[i];                                            \
        for (u32 i = ITEM; i < bitmap_words; i += ITEMS) words[table_words + i] = bitmap[i];                            \
        BARRIER();                                                                                                      \
        Filter f;                                                                                                       \
        f.text = text + at, f.bytes = bytes, f.lead = lead;                                                             \
        f.table = words, f.table_shift = 30 - table_log, f.table_mask = (4u << table_log) - 4;                          \
        f.bitmap = words + table_words, f.bitmap_far = bitmap_is_near ? 0 : bitmap;                                     \
        f.bitmap_shift = 32 - bitmap_log, f.slot_shift = 32 - slot_log;                                                 \
        f.slots = slots, f.entries = entries, f.rest = rest, f.runs = run_bytes;\
        f.output = output, f.capacity = capacity;                  \
        f.words = words + table_words + bitmap_words + WARP * WARP_WORDS;                                               \
        f.queue = (LOCAL u16 *)(f.words + TEXT_WORDS);                                                                  \
        f.survivors = f.words + TEXT_WORDS + 4 * LANES;                                                                 \
        f.records = f.survivors + 6 * SURVIVORS;                                                                        \
        scan(f, bytes / CHUNK + (bytes % CHUNK != 0), stride, with_runs, wide);                                                      \
    }

// Windows of three bytes and the low nibbles of their neighbours, at every second position.
KERNEL_OF(1024, 64) gpu_filter_2(FILTER_ARGS) FILTER(2, 0, 0)

// The same for sets that have patterns of one byte over and over: 00 00 00 00 is found by where zeros begin and end.
KERNEL_OF(1024, 64) gpu_filter_2_runs(FILTER_ARGS) FILTER(2, 1, 0)

// Windows of four bytes at every fourth position.
KERNEL_OF(1024, 64) gpu_filter_4(FILTER_ARGS) FILTER(4, 0, 0)

// Windows of eight bytes at every fourth position, for patterns of eleven bytes or more in texts of few letters.
KERNEL_OF(1024, 64) gpu_filter_4_wide(FILTER_ARGS) FILTER(4, 0, 1)

// Patterns of one to three bytes, which no window of the filter fits. `heads` has a bit for each pair of bytes that any
// of them begins with; lists of patterns stand under one byte, two bytes, and the hash of three. An entry is
// {pattern, bytes}.
KERNEL(256)
gpu_filter_short(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 lead, GLOBAL const u32 *RESTRICT heads,
                 GLOBAL const u32 *RESTRICT ones, GLOBAL const u32 *RESTRICT twos, GLOBAL const u32 *RESTRICT threes,
                 u32 threes_log, GLOBAL const uint2 *RESTRICT entries, GLOBAL u32 *RESTRICT output, u32 capacity) {
    SHARED_ARRAY(u32, pairs, 2048);
    SHARED_ARRAY(u32, gathered, 2 * RECORDS * 256 / LANES);
    for (u32 i = ITEM; i < 2048; i += ITEMS) pairs[i] = heads[i];
    BARRIER();
    Filter f;
    f.output = output, f.capacity = capacity, f.records = gathered + WARP * 2 * RECORDS;
    GLOBAL const u32 *words = (GLOBAL const u32 *)(text + at);
    const u32 count = bytes / 4 + (bytes % 4 != 0);
    u32 held = 0;
    // All lanes of a warp take part to the end: they exchange what they found.
    for (u32 first = (GROUP * ITEMS + ITEM) / LANES * LANES; first < count; first += GROUPS * ITEMS) {
        const u32 i = first + LANE;
        u32 low = i < count ? words[i] : 0, high = i < count ? words[i + 1] : 0;
        UNROLL
        for (u32 j = 0; j < 4; j++) {
            u32 x = j ? FUNNEL(low, high, 8 * j) : low;
            u32 start = 4 * i + j;
            bool is = i < count && start < bytes && (pairs[(x & 0xffff) >> 5] >> (x & 31) & 1);
            if (!ANY(is)) continue;
            u32 three = (x & 0xffffff) * SPREAD >> (32 - threes_log);
            UNROLL
            for (u32 length = 1; length <= 3; length++) {
                GLOBAL const u32 *list = length == 1 ? ones : length == 2 ? twos : threes;
                u32 key = length == 1 ? x & 255 : length == 2 ? x & 0xffff : three;
                bool may = is && start + length <= bytes && start + length > lead;
                u32 next = may ? list[key] : 0, end = may ? list[key + 1] : 0;
                while (ANY(next < end)) {
                    bool has = next < end;
                    uint2 entry = entries[has ? next : 0];
                    has = has && (length < 3 || entry.y == (x & 0xffffff));
                    held = emit(&f, held, has, start + length, entry.x);
                    next++;
                }
            }
        }
    }
    if (held) {
        WARP_SYNC();
        flush(&f, held);
    }
}
