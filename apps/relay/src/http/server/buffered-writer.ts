const MAX_PENDING_CHARACTERS = 65_536;

export interface BufferedWriter {
  /** Writes one line; its line end is added. */
  readonly write: (line: string) => void;
  /** Writes all pending lines now; must be called before the process ends. */
  readonly flush: () => void;
}

/** Writes the lines of one event-loop turn together, because each write to a pipe is a system call. */
export function createBufferedWriter(
  stream: { write(text: string): unknown },
  schedule: (flush: () => void) => void,
): BufferedWriter {
  let pending = "";
  function flush(): void {
    const text = pending;
    pending = "";
    if (text !== "") stream.write(text);
  }
  return {
    flush,
    write(line) {
      if (pending === "") schedule(flush);
      pending += `${line}\n`;
      if (pending.length >= MAX_PENDING_CHARACTERS) flush();
    },
  };
}
