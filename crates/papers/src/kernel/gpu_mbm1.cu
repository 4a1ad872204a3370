// With mbm.h.
// Zha 2010, 6.5.1.2: the reversed trie in a texture.

#define CHILD(at) FETCH(table, at)

KERNEL(64) gpu_mbm1(MBM_ARGS(TEXTURE table)) MBM(CHILD)
