// Zha and Sahni 2011, IV-B1: each work item loads 16 bytes at a time and takes them one by one
// from shared memory.

KERNEL(64) gpu_ac2(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, u32 positions, TEXTURE table,
                   GLOBAL u32 *RESTRICT output) {
    SHARED_ARRAY(uint4, words, 64);
    u64 first = ((u64)GROUP * ITEMS + ITEM) * positions;
    if (first >= bytes) return;
    u32 from = (u32)first;
    u32 to = bytes - from < positions ? bytes : from + positions;
    GLOBAL const uint4 *input = (GLOBAL const uint4 *)(text + at);
    LOCAL const u8 *word = (LOCAL const u8 *)&words[ITEM];
    u32 state = 0;
    // From the word that contains the first byte: a walk that begins earlier reaches the same
    // state.
    for (u32 i = (from < overlap ? 0 : from - overlap) & ~15u; i < to; i += 16) {
        words[ITEM] = input[i / 16];
        u32 count = to - i < 16 ? to - i : 16;
        for (u32 k = 0; k < count; k++) {
            state = FETCH(table, state * 256 + word[k]);
            if (i + k >= from) output[i + k] = state;
        }
    }
}
