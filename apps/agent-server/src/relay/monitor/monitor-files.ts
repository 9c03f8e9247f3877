import { type MonitorAlarm, type MonitorState, parseMonitorState } from "@agent/client";
import { sha256Hex } from "@agent/crypto";
import { readFileIfPresent } from "@agent/crypto/private-file";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { createPrivateFolder, writePrivateFile } from "../../files/private-file.ts";

/** The files that a monitor keeps of one relay between its rounds. */
export interface MonitorFiles {
  /** Loads the last state; null before the first round. Throws for a file in another form. */
  load(): Promise<MonitorState | null>;
  save(state: MonitorState): Promise<void>;
  /** Keeps two checkpoints that contradict each other. */
  keepEvidence(alarm: MonitorAlarm): Promise<void>;
}

/** Opens the files of a relay in the folder of the monitor. */
export function openMonitorFiles(folder: string, relayId: string): MonitorFiles {
  // The id is hashed so that a relay cannot choose a file name.
  const path = join(folder, `${sha256Hex(relayId)}.json`);
  return {
    async load() {
      const text = await readFileIfPresent(path);
      if (text === undefined) return null;
      const state = parseMonitorState(text);
      // Beginning anew would hide that the log went back.
      if (state === null) throw new Error(`${path}: is not a monitor state file`);
      return state;
    },
    async save(state) {
      await createPrivateFolder(folder);
      await writePrivateFile(path, state);
    },
    async keepEvidence(alarm) {
      await createPrivateFolder(folder);
      await appendFile(`${path}.evidence`, `${JSON.stringify(alarm)}\n`, { mode: 0o600 });
    },
  };
}
