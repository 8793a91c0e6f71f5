import { expect, test } from "vitest";
import { compareAuthorities } from "../../src/config/shell-authorities.ts";

const FILE = "/etc/assay.env";
const set = (path: string) => ({ NODE_EXTRA_CA_CERTS: path });

test("a difference is found when the shell's certificate authorities are not those of the service", () => {
	expect(
		compareAuthorities(set("/own.pem"), set("/service.pem"), FILE),
	).toMatch(
		/of this shell \(\/own\.pem\) takes precedence.*\/etc\/assay\.env has \/service\.pem/,
	);
	expect(compareAuthorities(set("/own.pem"), {}, FILE)).toContain(
		"/etc/assay.env does not set it",
	);
	expect(compareAuthorities(set(""), set("/service.pem"), FILE)).toBeDefined();
});

test("no difference is found when a command trusts the same authorities as the service", () => {
	const same = set("/service.pem");
	expect(compareAuthorities({}, same, FILE)).toBeUndefined();
	expect(compareAuthorities(same, same, FILE)).toBeUndefined();
	expect(compareAuthorities(set(""), {}, FILE)).toBeUndefined();
});
