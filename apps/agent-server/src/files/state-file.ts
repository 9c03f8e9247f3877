import { dirname } from "node:path";
import { createPrivateFolder, writeWithOrigin } from "./private-file.ts";

/** Writes the present content of a file; returns false when it could not be written. */
export type WriteStateFile = () => Promise<boolean>;

/**
 * Creates the writer of a private JSON file whose content changes often. Writes are sequential, and all changes
 * during one write share the next.
 */
export function createStateFile(options: {
  readonly path: string;
  /** `origin` distinguishes the file from its copies. */
  readonly getContent: (origin: string) => unknown;
  readonly onFault: (cause: unknown) => void;
}): WriteStateFile {
  const { path, getContent, onFault } = options;
  let lastWrite: Promise<unknown> = Promise.resolve();
  let queuedWrite: Promise<boolean> | undefined;

  async function writeContent(): Promise<boolean> {
    queuedWrite = undefined;
    try {
      await createPrivateFolder(dirname(path));
      await writeWithOrigin(path, getContent);
      return true;
    } catch (cause) {
      onFault(cause);
      return false;
    }
  }

  return () => {
    if (queuedWrite === undefined) {
      queuedWrite = lastWrite.then(writeContent);
      lastWrite = queuedWrite;
    }
    return queuedWrite;
  };
}
