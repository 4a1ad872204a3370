// Multipattern Boyer-Moore: what gpu_mbm0 and gpu_mbm1 share.
//
// Source: Zha 2010, 6.2 and 6.5.1.2.

#define ENDS 0x80000000u

// `table` declares the reversed trie.
#define MBM_ARGS(table)                                                                             \
    GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, u32 positions, u32 window,       \
        u32 nodes, table, GLOBAL const u32 *RESTRICT shifts, GLOBAL u32 *RESTRICT found, u32 room    \
        SHARED(words)

// CHILD(at) is the entry of the trie's table at `at`.
#define MBM(CHILD)                                                                                  \
    {                                                                                               \
        SHARED_HERE(words)                                                                          \
        /* B of each byte, then both shifts of each node. */                                        \
        LOCAL u32 *bad = (LOCAL u32 *)words;                                                        \
        LOCAL u32 *both = bad + 256;                                                                \
        for (u32 k = ITEM; k < 256 + nodes; k += ITEMS) bad[k] = shifts[k];                         \
        BARRIER();                                                                                  \
        u64 begin = overlap + ((u64)GROUP * ITEMS + ITEM) * positions;                              \
        if (begin >= bytes) return;                                                                 \
        u32 from = (u32)begin;                                                                      \
        u32 to = bytes - from < positions ? bytes : from + positions;                               \
        GLOBAL const u8 *input = text + at;                                                         \
        u32 end = from + 1 < window ? window : from + 1;                                            \
        while (end <= to) {                                                                         \
            u32 node = 0, depth = 0, seen = 0, fits = 0;                                            \
            while (depth < end) {                                                                   \
                u32 byte = input[end - 1 - depth];                                                  \
                u32 child = CHILD(node * 256 + byte);                                               \
                if (!child) {                                                                       \
                    fits = bad[byte] > depth + 1 ? bad[byte] - depth - 1 : 0;                       \
                    break;                                                                          \
                }                                                                                   \
                node = child & ~ENDS;                                                               \
                if (child & ENDS) seen = node;                                                      \
                depth++;                                                                            \
            }                                                                                       \
            if (seen) record(found, room, end, seen);                                               \
            u32 shift1 = both[node] & 0xffffu, shift2 = both[node] >> 16;                           \
            u32 shift = shift1 > fits ? shift1 : fits;                                              \
            end += shift < shift2 ? shift : shift2;                                                 \
        }                                                                                           \
    }
