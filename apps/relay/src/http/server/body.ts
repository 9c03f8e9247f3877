import { isJsonObject } from "@agent/crypto";
import { limits, refuse, type Refusal } from "@agent/wire";
import { refuseField } from "./validate.ts";

// A byte order mark must stay, because signed bodies are stored byte for byte.
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

type ReadResult<T> = ({ readonly ok: true } & T) | Refusal;

/** Reads the JSON text of a request, up to the limit and regardless of its headers. */
export async function readBodyText(request: Request): Promise<ReadResult<{ text: string }>> {
  const { headers } = request;
  const type = headers.get("content-type");
  if (type !== null && !/^application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(type)) {
    return refuse("request.media_type");
  }
  if (headers.get("content-encoding") !== null) {
    return refuse("request.media_type", "compressed bodies are not taken");
  }
  const read = await readUtf8(request, limits.requestBytes);
  if (!read.ok) return read;
  return read.text === undefined
    ? refuse("request.malformed_json", "it is not UTF-8")
    : { ok: true, text: read.text };
}

/** Reads a request's text of any media type, up to `maxBytes`. */
export async function readPlainText(
  request: Request,
  maxBytes: number,
): Promise<ReadResult<{ text: string }>> {
  const read = await readUtf8(request, maxBytes);
  if (!read.ok) return read;
  return read.text === undefined
    ? refuseField("", "body must be UTF-8")
    : { ok: true, text: read.text };
}

/** Reads the body; the text is undefined if it is not UTF-8. */
async function readUtf8(
  request: Request,
  maxBytes: number,
): Promise<ReadResult<{ text: string | undefined }>> {
  let bytes: Uint8Array | undefined;
  try {
    bytes = await readBytes(request, maxBytes);
  } catch {
    // The sender stopped or disconnected, which is not a failure of the relay.
    return refuse("request.timeout");
  }
  if (bytes === undefined) return refuse("request.too_large", `at most ${maxBytes / 1_024} KiB`);
  try {
    return { ok: true, text: utf8Decoder.decode(bytes) };
  } catch {
    return { ok: true, text: undefined };
  }
}

/** Returns the body; undefined if it is larger than `maxBytes`. */
async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  const declared = request.headers.get("content-length");
  if (declared !== null) {
    // The HTTP parser enforces the declared length.
    if (Number(declared) > maxBytes) return undefined;
    return new Uint8Array(await request.arrayBuffer());
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Parses a JSON object. A blank text is the empty object, so a body without members may be omitted. */
export function parseJsonObject(text: string): ReadResult<{ value: object }> {
  if (text.trim() === "") return { ok: true, value: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse("request.malformed_json");
  }
  if (!isJsonObject(value)) return refuseField("", "body must be a JSON object");
  if (exceedsDepth(value, limits.jsonDepth)) return refuse("request.too_deep");
  return { ok: true, value };
}

/** Measures the depth first, because deep nesting overflows recursive schemas and serialisers. */
function exceedsDepth(value: object, depth: number): boolean {
  if (depth === 0) return true;
  for (const member of Object.values(value)) {
    if (
      typeof member === "object" &&
      member !== null &&
      exceedsDepth(member as object, depth - 1)
    ) {
      return true;
    }
  }
  return false;
}
