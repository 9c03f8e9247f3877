import { createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { availableParallelism } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

const REPEATS = 2_000;

/**
 * Returns the processor seconds of one native Ed25519 verification of 1.5 KB, the unit of costs. All cores
 * verify at the same time, because a core is slower while the others are busy, as they are under load.
 */
export async function measureVerifySeconds(): Promise<number> {
  const costs = await Promise.all(Array.from({ length: availableParallelism() }, measureOnThread));
  return costs.reduce((sum, cost) => sum + cost, 0) / costs.length;
}

function measureOnThread(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const worker = new Worker(new URL(import.meta.url));
  worker.once("message", resolve);
  worker.once("error", reject);
  return promise;
}

function measure(): number {
  const { privateKey } = generateKeyPairSync("ed25519");
  const publicKey = createPublicKey(privateKey);
  const message = Buffer.alloc(1_500, "x");
  const signature = sign(null, message, privateKey);
  const before = process.threadCpuUsage();
  for (let i = 0; i < REPEATS; i += 1) verify(null, message, publicKey, signature);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1e6 / REPEATS;
}

if (!isMainThread) parentPort?.postMessage(measure());
