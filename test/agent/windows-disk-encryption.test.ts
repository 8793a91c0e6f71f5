import { describe } from "vitest";
import {
	DISK_ENCRYPTION_SCRIPT,
	diskEncryption,
} from "../../agent/checks/windows/disk-encryption.ts";
import { cases } from "./windows-cases.ts";
import { CIM_DENIED, NO_NAMESPACE, values } from "./windows-recording.ts";

const volume = (
	letter: string,
	type: number,
	protection: number,
	conversion: number,
	method = 6,
) => ({
	DriveLetter: letter,
	VolumeType: type,
	ProtectionStatus: protection,
	ConversionStatus: conversion,
	EncryptionMethod: method,
});
const disk = (volumes: object, drivers: object = values()) => ({
	systemDrive: "C:",
	volumes,
	drivers,
});

describe("DISK_ENCRYPTION on Windows", () => {
	cases(diskEncryption, DISK_ENCRYPTION_SCRIPT, [
		[
			"BitLocker on the system drive passes",
			disk(values(volume("C:", 0, 1, 1))),
			"PASS",
			{
				engine: "bitlocker",
				encryption_method: "xts_aes_128",
				conversion: "encrypted",
				data_volumes: 0,
			},
		],
		[
			"a fixed data drive without protection fails, a removable one does not count",
			disk(
				values(volume("D:", 1, 0, 0, 0), volume("C:", 0, 1, 1), {
					...volume("E:", 2, 0, 0, 0),
				}),
			),
			"FAIL",
			{
				data_volumes: 1,
				unprotected_data_volumes: 1,
				drive_d_encrypted: false,
			},
		],
		[
			"encrypted and locked data drives pass",
			disk(
				values(
					volume("C:", 0, 1, 1),
					volume("D:", 1, 1, 1),
					volume("E:", 1, 2, 1),
				),
			),
			"PASS",
			{ data_volumes: 2, drive_d_encrypted: true, drive_e_encrypted: true },
		],
		[
			"a partition without a letter, such as the one for recovery, does not count",
			disk(
				values(volume("C:", 0, 1, 1), {
					...volume("", 1, 0, 0, 0),
					DriveLetter: null,
				}),
			),
			"PASS",
			{ data_volumes: 0 },
		],
		[
			"a drive without BitLocker fails",
			disk(values(volume("C:", 0, 0, 0, 0))),
			"FAIL",
			{ conversion: "decrypted", encryption_method: "none" },
		],
		[
			"suspended protection, or device encryption that waits for an account, fails",
			disk(values(volume("C:", 0, 0, 1))),
			"FAIL",
			{ protection_suspended: true },
		],
		[
			"a drive that is still being encrypted fails",
			disk(values(volume("C:", 0, 1, 2))),
			"FAIL",
			{ conversion: "encrypting" },
		],
		[
			"a locked drive is UNKNOWN",
			disk(values(volume("C:", 0, 2, 1))),
			"UNKNOWN",
			{ reason: "protection_unknown" },
		],
		[
			"a running VeraCrypt makes the result UNKNOWN",
			disk(values(volume("C:", 0, 0, 0, 0)), values({ Name: "veracrypt" })),
			"UNKNOWN",
			{ reason: "third_party_encryption", engine: "veracrypt" },
		],
		[
			"a server without the BitLocker feature is UNKNOWN",
			disk(NO_NAMESPACE),
			"UNKNOWN",
			{ reason: "bitlocker_not_installed" },
		],
		[
			"an ordinary user learns that the check needs an administrator",
			disk(CIM_DENIED),
			"UNKNOWN",
			{ reason: "needs_administrator" },
			{ isPrivileged: false },
		],
		[
			"a system drive that is not listed is UNKNOWN",
			disk(values(volume("D:", 1, 1, 1))),
			"UNKNOWN",
			{ reason: "system_drive_not_listed" },
		],
	]);
});
