/** Larger than any note, tile or bundle of entries. */
const MAX_BYTES = 262_144;

/** Reads a path of the relay that serves the page; if there are no bytes, the status states the reason. */
export async function fetchBytes(
  path: string,
): Promise<{ readonly status: number; readonly bytes: Uint8Array | undefined }> {
  const answer = await fetch(`./${path}`, { redirect: "error", cache: "no-cache" });
  if (!answer.ok) return { status: answer.status, bytes: undefined };
  const bytes = new Uint8Array(await answer.arrayBuffer());
  return { status: answer.status, bytes: bytes.length > MAX_BYTES ? undefined : bytes };
}
