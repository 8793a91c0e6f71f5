import fc from "fast-check";
import { withBody } from "./operations.ts";
import type { Case, Target } from "./target.ts";
import {
	hostile,
	json,
	ofKind,
	orStrange,
	spoil,
	strangeText,
	strangeValue,
	text,
} from "./values.ts";

const ACCOUNT_PAGES = [
	"/api/link",
	"/api/setup",
	"/api/join",
	"/api/forgot-password",
	"/api/reset-password",
	"/api/auth/get-session",
	"/api/auth/two-factor/verify-totp",
	"/api/auth/update-user",
];

/**
 * Returns cases for the JSON-RPC messages around the tools, and for unknown addresses and headers.
 */
export function otherCases(target: Target): fc.Arbitrary<Case> {
	const headers = {
		authorization: `Bearer ${target.tokens[0]}`,
		"content-type": "application/json",
		cookie: target.cookie,
		origin: target.url,
	};
	const message = fc.record(
		{
			jsonrpc: fc.constantFrom<unknown>("2.0", "2.0", "1.0", 2),
			id: fc.constantFrom<unknown>(1, "x", 1.5, null, {}),
			method: fc.oneof(
				fc.constantFrom(
					"tools/call",
					"tools/list",
					"initialize",
					"ping",
					"server/discover",
					"subscriptions/listen",
					"notifications/cancelled",
					"__proto__",
				),
				strangeText,
			),
			params: fc.oneof(strangeValue, fc.dictionary(strangeText, strangeValue)),
		},
		{ requiredKeys: [] },
	);
	const account = fc.record(
		{
			token: orStrange(fc.constantFrom("asy_set_x", "asy_rst_x", "asy_inv_x")),
			email: orStrange(fc.constant("nobody@example.com")),
			password: orStrange(fc.constant("not the password")),
			name: orStrange(text),
			organization_name: orStrange(text),
			code: strangeValue,
			rememberMe: strangeValue,
			callbackURL: strangeValue,
		},
		{ requiredKeys: [] },
	);
	const address = fc
		.array(
			fc.oneof(
				fc.constantFrom(
					"api",
					"../..",
					"%2e%2e",
					"%00",
					"assets",
					"console",
					"auth",
					"export",
					"listRisks.csv",
					"health",
					"ready",
					".well-known",
					"%",
					"index.html",
					"etc",
					"passwd",
				),
				strangeText.map((part) => encodeURIComponent(part.toWellFormed())),
			),
			{ maxLength: 6 },
		)
		.map((parts) => `/${parts.join("/")}`);
	const rpc = fc.oneof(
		{ weight: 6, arbitrary: ofKind("nearly", message.map(json)) },
		{ weight: 1, arbitrary: spoil(message, ["id", "method", "params"]) },
		{ weight: 1, arbitrary: hostile },
	);
	const form = fc.oneof(
		{ weight: 3, arbitrary: ofKind("nearly", account.map(json)) },
		{ weight: 1, arbitrary: spoil(account, ["email", "password", "token"]) },
		{ weight: 1, arbitrary: hostile },
	);
	const asked = { method: fc.constant("POST"), headers: fc.constant(headers) };
	return fc.oneof(
		withBody(rpc, {
			...asked,
			name: fc.constant("json-rpc"),
			path: fc.constant("/api/mcp/v1"),
		}),
		withBody(form, {
			...asked,
			name: fc.constant("account"),
			path: fc.constantFrom(...ACCOUNT_PAGES),
		}),
		withBody(ofKind("made-up address", fc.constant("")), {
			...asked,
			name: fc.constant("address"),
			method: fc.constantFrom("GET", "HEAD", "OPTIONS", "POST"),
			path: address,
		}),
	);
}
