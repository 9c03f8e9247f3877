import { browserEnvironment } from "../relay/page-context.ts";

/** The time in which the browser has surely begun to save. */
const KEEP_MS = 10_000;

/** Offers a text of the page as a file to save. */
export function saveFile(name: string, mediaType: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: mediaType }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  browserEnvironment.schedule(KEEP_MS, () => URL.revokeObjectURL(url));
}
