export { type Delivery, type DeliveryOutcome, classifyDelivery } from "./delivery.ts";
export { type RetrySchedule, createRetrySchedule } from "./retry-schedule.ts";
export {
  acceptWallClock,
  type ClockJump,
  type ClockReading,
  type ClockState,
  advanceClock,
  createClock,
} from "./steady-clock.ts";
