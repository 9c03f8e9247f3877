import { Pool } from "undici";

export type Post = (path: string, body: string, token?: string) => Promise<string>;

const connections = 64;

/** Posts JSON over kept connections, `always` with these headers; anything but a success ends the run. */
export function createPoster(
  url: string,
  always: Readonly<Record<string, string>> = {},
): {
  readonly post: Post;
  readonly close: () => Promise<void>;
} {
  const pool = new Pool(url, { connections, pipelining: 1 });
  return {
    async post(path, body, token) {
      const answer = await pool.request({
        path,
        method: "POST",
        body,
        headers: {
          ...always,
          "content-type": "application/json",
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${text}`);
      return text;
    },
    close: () => pool.close(),
  };
}

/** Runs `work` over and over in parallel lanes for a while; answers how often a second. */
export async function perSecond(seconds: number, work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  const end = start + seconds * 1_000;
  let done = 0;
  const lane = async () => {
    while (performance.now() < end) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, lane));
  return (done / (performance.now() - start)) * 1_000;
}
