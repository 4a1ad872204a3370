// Zha and Sahni 2011, fig. 4: each work item computes the states of its positions, byte by byte.

KERNEL(64) gpu_ac0(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, u32 positions,
                   GLOBAL const u32 *RESTRICT table, GLOBAL u32 *RESTRICT output) {
    u64 first = ((u64)GROUP * ITEMS + ITEM) * positions;
    if (first >= bytes) return;
    u32 from = (u32)first;
    u32 to = bytes - from < positions ? bytes : from + positions;
    GLOBAL const u8 *input = text + at;
    u32 state = 0;
    for (u32 i = from < overlap ? 0 : from - overlap; i < from; i++) state = table[state * 256 + input[i]];
    for (u32 i = from; i < to; i++) {
        state = table[state * 256 + input[i]];
        output[i] = state;
    }
}
