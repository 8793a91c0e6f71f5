import { type StarterFramework, section } from "../shape.ts";

/** Duties of essential and important entities in the directive (EU) 2022/2555, in short. */
export const NIS_2: StarterFramework = {
	key: "nis-2",
	name: "NIS 2",
	version: "2022/2555",
	description:
		"Cybersecurity duties of essential and important entities in the European Union, in short. The national law says what applies.",
	controls: [
		...section("Article 20 Governance", [
			[
				"20.1",
				"The management approves and oversees the measures",
				"roles risk-review",
			],
			["20.2", "The management is trained", "training"],
		]),
		...section("Article 21 Risk management", [
			[
				"21.2 a",
				"Risks are analyzed and policies are set",
				"risk-review policies",
			],
			["21.2 b", "Incidents are handled", "incident-response"],
			["21.2 c", "The business continues in a crisis", "continuity backups"],
			["21.2 d", "The supply chain is secure", "vendor-review"],
			[
				"21.2 e",
				"Systems are bought and developed securely",
				"secure-development patching",
			],
			[
				"21.2 f",
				"The measures are evaluated",
				"internal-audit device-baseline",
			],
			[
				"21.2 g",
				"Basic hygiene and training are in place",
				"training device-baseline patching",
			],
			["21.2 h", "Cryptography is used where it fits", "encryption"],
			[
				"21.2 i",
				"People, access and assets are managed",
				"joiners-leavers least-privilege asset-list",
			],
			[
				"21.2 j",
				"Sign-in and communication are secure",
				"mfa network-security",
			],
		]),
		...section("Article 23 Reporting", [
			[
				"23.4 a",
				"An early warning is sent within 24 hours",
				"incident-response",
			],
			["23.4 b", "A notification is sent within 72 hours", "incident-response"],
			["23.4 d", "A final report is sent within a month", "incident-response"],
		]),
	],
};
