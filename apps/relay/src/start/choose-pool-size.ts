/** The threads of the pool that Node.js verifies signatures on, if no size is given. */
const DEFAULT_THREADS = 4;
/** A slow call of the system occupies at most half of them, so signatures never wait for one. */
const MIN_THREADS = 2;

/**
 * Chooses the number of threads that verify signatures. With more threads than cores they compete with each
 * other and with the thread that serves requests.
 */
export function choosePoolSize(cores: number): number {
  return Math.min(DEFAULT_THREADS, Math.max(MIN_THREADS, cores));
}
