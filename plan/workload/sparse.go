package workload

// MostSigmaSquared bounds the Gaussian noise of a sparse table.
const MostSigmaSquared = int64(1) << 32
