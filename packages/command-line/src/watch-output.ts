/** The output streams of a process. */
interface OutputStreams {
  readonly stdout: NodeJS.EventEmitter;
  readonly stderr: NodeJS.EventEmitter;
}

/**
 * Calls `onLost` with a message if the output of a command cannot be written, for example on a full disk: the
 * command must not end as if its output were complete. A reader that has ended, such as `head`, has all that it
 * wanted, so that is not a fault.
 *
 * @returns a function that stops this; afterwards lost output is ignored
 */
export function watchOutput(
  { stdout, stderr }: OutputStreams,
  onLost: (message: string) => void,
): () => void {
  const ignore = () => {};
  const report = (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") onLost(`the output cannot be written: ${error.message}`);
  };
  // Without a listener the error would end the process with a stack trace.
  for (const stream of [stdout, stderr]) stream.on("error", ignore);
  stdout.on("error", report);
  return () => void stdout.off("error", report);
}
