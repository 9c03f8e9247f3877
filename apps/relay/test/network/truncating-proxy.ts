import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface CuttingProxy {
  readonly url: string;
  readonly cuts: () => number;
  close(): Promise<void>;
}

/** Forwards bytes to and from a relay, and cuts each connection after `room()` bytes from the relay. */
export async function startTruncatingProxy(
  port: number,
  room: () => number,
): Promise<CuttingProxy> {
  let cuts = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    let left = room();
    const end = () => {
      for (const socket of [near, far]) {
        open.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on("error", end).on("close", end);
    }
    near.pipe(far);
    far.on("data", (chunk: Buffer) => {
      const passed = chunk.subarray(0, left);
      left -= passed.length;
      if (passed.length === chunk.length) return void near.write(chunk);
      cuts += 1;
      near.end(passed, end);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: () => cuts,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
