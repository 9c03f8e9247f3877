export { receiptOf, testAgent, tokenOf } from "./agents.ts";
export type { ReceiptedTask, TestAgent, TestWorld } from "./agents.ts";
export { manualClock } from "./clock.ts";
export type { ManualClock } from "./clock.ts";
export { seededRandom } from "./random.ts";
export type { SeededRandom } from "./random.ts";
export { hostileVectors, jsonVectors, receiptVectors } from "./vectors.ts";
export type { HostileVectors, JsonVector, ReceiptVector } from "./vectors.ts";
