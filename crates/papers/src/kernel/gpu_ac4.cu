// Zha and Sahni 2011, IV-B2: as gpu_ac3, but the input moves to registers, and the states take its
// place in shared memory, 64 of each work item per round, from where the group writes them
// together.

// Words of four bytes per work item, tWord in the paper; odd, by theorem 1.
#define T_WORD 57
#define POSITIONS (4 * T_WORD)
// Positions of a round, and the words between the states of neighboring work items: odd, by
// theorem 1 again.
#define ROUND 64
#define ROW (ROUND + 1)

#define UNROLL _Pragma("unroll")

KERNEL(64) gpu_ac4(GLOBAL const u8 *RESTRICT text, u64 at, u32 bytes, u32 overlap, u32 positions, TEXTURE table,
                   GLOBAL u32 *RESTRICT output SHARED(words)) {
    SHARED_HERE(words)
    u32 block = GROUP * ITEMS * POSITIONS;
    u32 before = (overlap + 15) / 16;
    u32 end = (bytes + 15) / 16;
    GLOBAL const uint4 *input = (GLOBAL const uint4 *)(text + at);
    for (u32 i = ITEM; i < before + ITEMS * POSITIONS / 16; i += ITEMS) {
        u32 word = block / 16 + i;
        if (word >= before && word - before < end) words[i] = input[word - before];
    }
    BARRIER();

    // Past the text's end shared memory is undefined: states from there are not written.
    LOCAL const u8 *tile = (LOCAL const u8 *)words;
    u32 from = block + ITEM * POSITIONS;
    u32 shift = before * 16 - block;
    u32 state = 0;
    u32 walk = from < bytes ? from : 0;
    for (u32 i = walk < overlap ? 0 : walk - overlap; i < walk; i++) state = FETCH(table, state * 256 + tile[i + shift]);
    LOCAL const u32 *mine = (LOCAL const u32 *)words + before * 4 + ITEM * T_WORD;
    u32 held[T_WORD];
    UNROLL for (u32 w = 0; w < T_WORD; w++) held[w] = mine[w];
    BARRIER();

    LOCAL u32 *states = (LOCAL u32 *)words;
    // Work items with positions: the text may end before the group.
    u32 items = (bytes - block + POSITIONS - 1) / POSITIONS;
    if (items > ITEMS) items = ITEMS;
    _Pragma("unroll 1") for (u32 done = 0; done < POSITIONS; done += ROUND) {
        u32 count = POSITIONS - done < ROUND ? POSITIONS - done : ROUND;
        UNROLL for (u32 w = 0; w < ROUND / 4; w++) {
            if (4 * w < count && from < bytes) {
                UNROLL for (u32 k = 0; k < 4; k++) {
                    state = FETCH(table, state * 256 + (held[w] >> 8 * k & 255));
                    states[ITEM * ROW + 4 * w + k] = state;
                }
            }
        }
        BARRIER();
        for (u32 i = ITEM; i < items * ROUND; i += ITEMS) {
            u32 item = i / ROUND, place = i % ROUND;
            u32 to = block + item * POSITIONS + done + place;
            if (place < count && to < bytes) output[to] = states[item * ROW + place];
        }
        BARRIER();
        // Moves the next round's words to the front: register indices have to be constants.
        UNROLL for (u32 w = 0; w + ROUND / 4 < T_WORD; w++) held[w] = held[w + ROUND / 4];
    }
}
