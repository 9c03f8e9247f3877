/** The HTTP status of a refusal code and the text that callers read. */
export interface ErrorText {
  readonly status: number;
  readonly text: string;
}
