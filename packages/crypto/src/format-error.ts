/** Returns the message of a thrown error, and of any other thrown value its text. */
export function formatError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
