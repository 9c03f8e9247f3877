/** Counts of durations by bucket; a bucket is an eighth of a doubling, so a percentile is 5 % off at most. */
export type LatencyHistogram = { [bucket: string]: number };

const BUCKETS_PER_DOUBLING = 8;

/** Adds durations in ms to a histogram and returns the result. */
export function addDurations(
  histogram: Readonly<LatencyHistogram>,
  durations: Iterable<number>,
): LatencyHistogram {
  const sum: LatencyHistogram = { ...histogram };
  for (const duration of durations) {
    const bucket = bucketOf(duration);
    sum[bucket] = (sum[bucket] ?? 0) + 1;
  }
  return sum;
}

/** Adds up histograms, so that minutes become a longer step. */
export function mergeHistograms(
  histograms: Iterable<Readonly<LatencyHistogram>>,
): LatencyHistogram {
  const sum: LatencyHistogram = {};
  for (const histogram of histograms) {
    for (const [bucket, count] of Object.entries(histogram)) {
      sum[bucket] = (sum[bucket] ?? 0) + count;
    }
  }
  return sum;
}

/** Returns the duration in ms that a share of the counted ones does not exceed; null if none is counted. */
export function getPercentile(histogram: Readonly<LatencyHistogram>, share: number): number | null {
  const counts = Object.entries(histogram)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([a], [b]) => a - b);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  let rest = Math.ceil(total * share);
  for (const [bucket, count] of counts) {
    rest -= count;
    if (rest <= 0) return middleOf(bucket);
  }
  return null;
}

/** Durations below a millisecond, also those of a clock that went back, are in bucket 0. */
function bucketOf(duration: number): number {
  return duration < 1 ? 0 : 1 + Math.floor(Math.log2(duration) * BUCKETS_PER_DOUBLING);
}

function middleOf(bucket: number): number {
  return bucket === 0 ? 0 : Math.round(2 ** ((bucket - 0.5) / BUCKETS_PER_DOUBLING));
}
