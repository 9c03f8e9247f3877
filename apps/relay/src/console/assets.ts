import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** A file of the built pages, in the form in which it is sent. */
export interface Asset {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Absent where it is not smaller. */
  readonly gzip: Uint8Array<ArrayBuffer> | undefined;
  readonly mediaType: string;
  /** The start of its hash, for `ETag`. */
  readonly tag: string;
  /** Whether its name changes with its content, so that it can be cached for ever. */
  readonly isHashed: boolean;
}

/** The files by their path below the folder, with forward slashes. */
export type Assets = ReadonlyMap<string, Asset>;

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const BUILT_FOLDER = fileURLToPath(new URL("../../assets/console", import.meta.url));
let built: Assets | undefined;

/** Returns the pages that the build has made, read once; empty where it has not run. */
export function getBuiltAssets(): Assets {
  built ??= readAssets(BUILT_FOLDER);
  return built;
}

/** Reads a folder once, so that no request can name a file outside of it. */
export function readAssets(folder: string): Assets {
  const assets = new Map<string, Asset>();
  if (!existsSync(folder)) return assets;
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const mediaType = MEDIA_TYPES[extname(path)];
    if (mediaType === undefined) continue;
    const bytes = new Uint8Array(readFileSync(join(folder, path)));
    const small = new Uint8Array(gzipSync(bytes, { level: 9 }));
    assets.set(path.split(sep).join("/"), {
      bytes,
      gzip: small.length < bytes.length ? small : undefined,
      mediaType,
      tag: createHash("sha256").update(bytes).digest("hex").slice(0, 24),
      isHashed: /-[\w-]{8}\.\w+$/.test(path),
    });
  }
  return assets;
}
