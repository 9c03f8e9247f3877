import { startRelay } from "./start-world.ts";
import { testGuide } from "./test-guide.ts";

testGuide("provider.md", { prepare: startRelay });
