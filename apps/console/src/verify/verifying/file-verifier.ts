import { type FileVerdict, verifyFile, type VerifyFileContext } from "./verify-file.ts";

/** A request to the worker and its answer, matched by number. */
interface VerifierRequest {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly context: VerifyFileContext;
}
interface VerifierReply {
  readonly number: number;
  readonly fileVerdict: FileVerdict;
}

export type FileVerifier = (
  bytes: Uint8Array,
  context: Omit<VerifyFileContext, "now">,
) => Promise<FileVerdict>;

/** The Trusted Types policies; the content security policy allows only the name that is used here. */
interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: () => string }): ScriptUrlPolicy;
}
interface ScriptUrlPolicy {
  createScriptURL(url: string): string;
}

/**
 * Starts the worker before the first file arrives, so that the page works offline. Without an address of the
 * worker's script, or if the browser refuses a worker, files are verified on the page, which is shown between two
 * files.
 */
export async function createFileVerifier(workerUrl: string | null): Promise<FileVerifier> {
  const worker = workerUrl === null ? null : await startWorker(workerUrl);
  const waiting = new Map<number, (fileVerdict: FileVerdict) => void>();
  let last = 0;
  worker?.addEventListener("message", ({ data }: MessageEvent<VerifierReply>) => {
    waiting.get(data.number)?.(data.fileVerdict);
    waiting.delete(data.number);
  });
  return async (bytes, given) => {
    const context = { ...given, now: Date.now() };
    if (worker === null) {
      await waitForPaint();
      return verifyFile(bytes, context);
    }
    last += 1;
    const request: VerifierRequest = { number: last, bytes, context };
    return new Promise((resolve) => {
      waiting.set(request.number, resolve);
      worker.postMessage(request);
    });
  };
}

/** Resolves with the loaded worker, or with null if the browser refuses one. */
function startWorker(url: string): Promise<Worker | null> {
  return new Promise((resolve) => {
    try {
      const worker = new Worker(trustWorkerUrl(url), { type: "module" });
      worker.addEventListener("message", () => resolve(worker), { once: true });
      worker.addEventListener("error", () => resolve(null), { once: true });
    } catch {
      resolve(null);
    }
  });
}

/** The policy returns one constant address, so it cannot be used to start another script. */
function trustWorkerUrl(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy("verify-worker", {
    createScriptURL: () => url,
  });
  return policy?.createScriptURL("") ?? url;
}

/** Verifies files for the page, which reports that it is ready only after the first message. */
export function serveFileVerifier(scope: Pick<Worker, "addEventListener" | "postMessage">): void {
  scope.addEventListener("message", (event) => {
    const { number, bytes, context } = (event as MessageEvent<VerifierRequest>).data;
    const reply: VerifierReply = { number, fileVerdict: verifyFile(bytes, context) };
    scope.postMessage(reply);
  });
  scope.postMessage("ready");
}

/** Lets the browser show the verdicts so far, and react to the reader. */
const waitForPaint = () => new Promise((resolve) => setTimeout(resolve));
