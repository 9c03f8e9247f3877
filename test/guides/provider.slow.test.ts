import { pairBrowser } from "./pair-browser.ts";
import { startRelay } from "./start-world.ts";
import { testGuide } from "./test-guide.ts";

testGuide("provider.md", { prepare: startRelay, clients: { pair: pairBrowser } });
