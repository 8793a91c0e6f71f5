import { expect, test } from "vitest";
import { isLocal } from "../../console/src/parts/local-address.ts";

test.each([
	"http://localhost:8080",
	"http://127.0.0.1:8080/invitation#asy_inv_1",
	"http://127.1.2.3",
	"http://[::1]:8080/",
])("only the computer itself opens %s", (address) => {
	expect(isLocal(address)).toBe(true);
});

test.each([
	"https://assay.example.com/invitation#localhost",
	"https://localhost.example.com",
	"http://192.168.1.127:8080",
	"http://assay:8080",
	"http://[fe80::1]:8080",
])("others can open %s", (address) => {
	expect(isLocal(address)).toBe(false);
});
