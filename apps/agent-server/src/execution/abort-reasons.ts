/** The reason of an abort by which a caller takes a call back, unlike one that merely lost its connection. */
export class CallCancelled extends Error {
  /** Nothing but the end of the connection says so, which is also what a lost caller looks like. */
  readonly byClosing: boolean;

  constructor({ byClosing }: { byClosing: boolean }) {
    super("The call was cancelled");
    this.byClosing = byClosing;
  }
}

/** The reason of an abort that ends work for which no receipt is wanted any more. */
export class WorkWithdrawn extends Error {
  constructor() {
    super("The work was withdrawn");
  }
}
