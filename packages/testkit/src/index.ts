export { createReceipt, createTestAgent, createToken } from "./agents.ts";
export type { TaskInput, TestAgent, TestEnvironment } from "./agents.ts";
export { createManualClock } from "./clock.ts";
export type { ManualClock } from "./clock.ts";
export { createSeededRandom } from "./random.ts";
export type { SeededRandom } from "./random.ts";
export { loadHostileVectors, loadJsonVectors, loadReceiptVectors } from "./vectors.ts";
export type { HostileVectors, JsonVector, ReceiptVector } from "./vectors.ts";
