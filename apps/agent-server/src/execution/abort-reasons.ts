/** The abort reason of a call that its caller cancelled, as opposed to a lost connection. */
export class CallCancelled extends Error {
  /** True when the only sign is a closed connection, which a lost caller leaves as well. */
  readonly byClosing: boolean;

  constructor({ byClosing }: { byClosing: boolean }) {
    super("the call was cancelled");
    this.byClosing = byClosing;
  }
}

/** The abort reason of work that must end without a receipt. */
export class WorkWithdrawn extends Error {
  constructor() {
    super("the work was withdrawn");
  }
}
