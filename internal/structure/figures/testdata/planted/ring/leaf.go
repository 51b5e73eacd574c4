package ring

// Leaf refers to no other file.
const Leaf = 1
