/** Returns the message of a thrown error, or the text of any other thrown value. */
export function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
