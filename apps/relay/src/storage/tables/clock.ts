/** One row with the time that the relay has reached. */
export interface ClockRow {
  one: 1;
  at: number;
}
