// Zha and Sahni 2011, fig. 5: the work items of a group load its text together and walk in shared
// memory.

KERNEL(64) gpu_ac3(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, u32 positions, TEXTURE table,
                   GLOBAL u32 *RESTRICT output SHARED(words)) {
    SHARED_HERE(words)
    u32 block = GROUP * ITEMS * positions;
    // Words of 16 bytes: those before the group's first position, and the end of the text.
    u32 before = (overlap + 15) / 16;
    u32 end = (bytes + 15) / 16;
    GLOBAL const uint4 *input = (GLOBAL const uint4 *)(text + at);
    for (u32 i = ITEM; i < before + ITEMS * positions / 16; i += ITEMS) {
        u32 word = block / 16 + i;
        if (word >= before && word - before < end) words[i] = input[word - before];
    }
    BARRIER();

    u32 from = block + ITEM * positions;
    if (from >= bytes) return;
    u32 to = bytes - from < positions ? bytes : from + positions;
    LOCAL const u8 *tile = (LOCAL const u8 *)words;
    u32 shift = before * 16 - block;
    u32 state = 0;
    for (u32 i = from < overlap ? 0 : from - overlap; i < from; i++) state = FETCH(table, state * 256 + tile[i + shift]);
    for (u32 i = from; i < to; i++) {
        state = FETCH(table, state * 256 + tile[i + shift]);
        output[i] = state;
    }
}
