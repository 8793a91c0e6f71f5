import { describe, expect, test } from "vitest";
import { checkOsVersion } from "../../agent/checks/linux/os-version.ts";
import { type Recording, recordedHost } from "./recorded-host.ts";
import { linux, OS_RELEASE } from "./recordings/linux.ts";

describe("the release", () => {
	const check = (osRelease: string, more: Partial<Recording> = {}) =>
		checkOsVersion(
			recordedHost(linux({ ...more, files: { "/etc/os-release": osRelease } })),
		);

	test.each([
		[
			"Ubuntu LTS",
			OS_RELEASE.ubuntu,
			"PASS",
			{ version: "24.04", supported_until: "2029-05-31" },
		],
		[
			"an Ubuntu between LTS releases, without support",
			OS_RELEASE.ubuntu.replaceAll("24.04", "25.04"),
			"FAIL",
			{ supported_until: "2026-01-15" },
		],
		[
			"Ubuntu newer than the table",
			'ID=ubuntu\nVERSION_ID="26.10"\n',
			"PASS",
			{ supported_until_at_least: "2027-01-23" },
		],
		[
			"an Ubuntu that is missing from the table",
			'ID=ubuntu\nVERSION_ID="19.10"\n',
			"UNKNOWN",
			{ reason: "release_not_known" },
		],
		[
			"Ubuntu older than the table",
			'ID=ubuntu\nVERSION_ID="12.04"\n',
			"FAIL",
			{ older_than_supported: true },
		],
		[
			"Debian in its LTS years",
			OS_RELEASE.debian,
			"PASS",
			{ supported_until: "2028-06-30" },
		],
		[
			"Debian after its LTS",
			OS_RELEASE.debian.replaceAll("12", "11"),
			"FAIL",
			{ supported_until: "2026-08-31" },
		],
		[
			"Debian testing",
			'PRETTY_NAME="Debian GNU/Linux forky/sid"\nNAME="Debian GNU/Linux"\nVERSION_CODENAME=forky\nID=debian\n',
			"PASS",
			{ rolling: true },
		],
		[
			"Fedora, which states the end of its support",
			OS_RELEASE.fedora,
			"PASS",
			{ supported_until: "2026-12-02" },
		],
		[
			"Fedora after the end that it states",
			OS_RELEASE.fedora.replace("2026-12-02", "2026-11-20"),
			"FAIL",
			{ supported_until: "2026-11-20" },
		],
		[
			"Fedora on its last day",
			OS_RELEASE.fedora.replace("2026-12-02", "2026-11-21"),
			"PASS",
			{},
		],
		[
			"Rocky by its series",
			OS_RELEASE.rocky,
			"PASS",
			{ version: "9.5", supported_until: "2032-05-31" },
		],
		[
			"CentOS 7",
			'NAME="CentOS Linux"\nID="centos"\nVERSION_ID="7"\n',
			"FAIL",
			{ supported_until: "2024-06-30" },
		],
		[
			"openSUSE Leap",
			'ID="opensuse-leap"\nVERSION_ID="15.6"\n',
			"FAIL",
			{ supported_until: "2026-04-30" },
		],
		[
			"Tumbleweed",
			'ID="opensuse-tumbleweed"\nVERSION_ID="20261118"\n',
			"PASS",
			{ rolling: true },
		],
		["Arch", OS_RELEASE.arch, "PASS", { rolling: true }],
		[
			"an old service pack of SLES",
			'ID="sles"\nVERSION_ID="15.2"\n',
			"FAIL",
			{ supported_until: "2021-12-31" },
		],
		[
			"the last service pack, of the desktop",
			'ID="sled"\nVERSION_ID="15.7"\n',
			"PASS",
			{ supported_until: "2031-07-31" },
		],
		[
			"Oracle Linux",
			'ID="ol"\nVERSION_ID="8.10"\n',
			"PASS",
			{ supported_until: "2029-07-31" },
		],
		[
			"Amazon Linux after the end of its support",
			'ID="amzn"\nVERSION_ID="2"\n',
			"FAIL",
			{ supported_until: "2026-06-30" },
		],
		["Alpine", OS_RELEASE.alpine, "PASS", { supported_until: "2027-05-01" }],
		[
			"Alpine edge",
			"ID=alpine\nVERSION_ID=3.24.0_alpha20260805\n",
			"PASS",
			{ rolling: true },
		],
		[
			"Linux Mint, judged by Ubuntu's dates",
			'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID="22.1"\nUBUNTU_CODENAME=noble\n',
			"PASS",
			{ based_on: "ubuntu-24.04" },
		],
		[
			"Linux Mint on an Ubuntu without support",
			'ID=linuxmint\nVERSION_ID="20.3"\nUBUNTU_CODENAME=focal\n',
			"FAIL",
			{ based_on: "ubuntu-20.04" },
		],
		[
			"an unknown distribution",
			'ID=hannah\nVERSION_ID="1"\n',
			"UNKNOWN",
			{ reason: "distribution_not_known" },
		],
		[
			"a name that every JavaScript object has",
			"ID=constructor\nVERSION_ID=1\n",
			"UNKNOWN",
			{ reason: "distribution_not_known" },
		],
		[
			"no name at all",
			"PRETTY_NAME=x\n",
			"UNKNOWN",
			{ reason: "unrecognized_output" },
		],
	] as const)("%s", async (_, text, status, evidence) => {
		expect(await check(text)).toMatchObject({ status, evidence });
	});

	test("a release newer than the table passes only for the distribution's shortest time of support", async () => {
		const text = 'ID=ubuntu\nVERSION_ID="26.10"\n';
		expect((await check(text, { now: "2027-06-01T00:00:00Z" })).status).toBe(
			"UNKNOWN",
		);
	});

	test("a machine with Ubuntu Pro passes after the free support has ended", async () => {
		const focal = OS_RELEASE.ubuntu.replaceAll("24.04", "20.04");
		const pro = (attached: boolean, status: string) => ({
			commands: {
				"pro status --format json": JSON.stringify({
					attached,
					account: { name: "ada@example.org" },
					services: [
						{ name: "esm-apps", status },
						{ name: "esm-infra", status },
					],
				}),
			},
		});
		expect(await check(focal, pro(true, "enabled"))).toMatchObject({
			status: "PASS",
			evidence: { extended_support: "ubuntu-pro" },
		});
		expect((await check(focal, pro(true, "disabled"))).status).toBe("FAIL");
		expect((await check(focal, pro(false, "enabled"))).status).toBe("FAIL");
		expect((await check(focal)).status).toBe("FAIL");
	});
});
