import { testGuide } from "./test-guide.ts";

testGuide("protocol.md");
