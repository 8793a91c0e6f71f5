import { FREEBSD_CHECKS } from "../../agent/checks/freebsd/all.ts";
import { findFacts } from "../../agent/facts/freebsd.ts";
import { testHostileOutput } from "./hostile-tests.ts";
import { BAD_BSD, GOOD_BSD } from "./recordings/freebsd.ts";

testHostileOutput({
	checks: FREEBSD_CHECKS,
	// The serial number may be any text, so it is left out.
	findFacts: async (host) => {
		const { serial_number: _, ...named } = await findFacts(host);
		return named;
	},
	good: GOOD_BSD,
	bad: BAD_BSD,
});
