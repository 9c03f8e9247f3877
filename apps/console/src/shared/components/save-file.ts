import { browserEnvironment } from "../relay/page-context.ts";

/** A time after which the browser has certainly begun to save. */
const KEEP_MS = 10_000;

/** Offers a text as a file to save. */
export function saveFile(name: string, mediaType: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  browserEnvironment.schedule(KEEP_MS, () => URL.revokeObjectURL(url));
}
