import { startRelay, startWorker } from "./start-world.ts";
import { testGuide } from "./test-guide.ts";

testGuide("auditor.md", {
  async prepare(shell) {
    await startRelay(shell);
    await startWorker(shell);
  },
});
