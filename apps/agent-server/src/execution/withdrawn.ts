/** The reason of an abort by which a caller takes a call back, unlike one that merely lost its connection. */
export class CallCancelled extends Error {
  constructor() {
    super("The call was cancelled");
  }
}

/** The reason of an abort that ends work for which no receipt is wanted any more. */
export class WorkWithdrawn extends Error {
  constructor() {
    super("The work was withdrawn");
  }
}
