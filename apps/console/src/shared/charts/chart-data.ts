/** One line of a chart; its colour is a variable of the style sheet. */
export interface ChartLine {
  readonly label: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
}

export interface ChartData {
  /** The times of the values in ms. */
  readonly times: readonly number[];
  readonly lines: readonly ChartLine[];
}

/** A drawn chart that can be updated with new data and a new width. */
export interface DrawnChart {
  update(data: ChartData): void;
  destroy(): void;
}
