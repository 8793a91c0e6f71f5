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
const disk = (
	volumes: object,
	drivers: object = values(),
	images: object = values(),
) => ({ systemDrive: "C:", volumes, images, drivers });
const encrypted = volume("C:", 0, 1, 1);
const plain = (letter: string) => volume(letter, 1, 0, 0, 0);

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
			"a Dev Drive in an image file on the encrypted system drive passes",
			disk(
				values(encrypted, plain("D:")),
				values(),
				values({ letter: "\u0000", on: "C:" }, { letter: "D", on: "C:" }),
			),
			"PASS",
			{
				data_volumes: 1,
				unprotected_data_volumes: 0,
				drive_d_encrypted: true,
				in_image_files: ["d"],
			},
		],
		[
			"an image file on a plain drive fails, also in another image file",
			disk(
				values(encrypted, plain("D:"), plain("E:"), plain("F:")),
				values(),
				values({ letter: "F", on: "E:" }, { letter: "E", on: "D:" }),
			),
			"FAIL",
			{ unprotected_data_volumes: 3, drive_f_encrypted: false },
		],
		[
			"an image file on a drive of the network is UNKNOWN",
			disk(
				values(encrypted, plain("D:")),
				values(),
				values({ letter: "D", on: "" }),
			),
			"UNKNOWN",
			{ reason: "image_file_not_known", drive_d_encrypted: "unknown" },
		],
		[
			"image files that hold each other are UNKNOWN",
			disk(
				values(encrypted, plain("D:"), plain("E:")),
				values(),
				values({ letter: "D", on: "E:" }, { letter: "E", on: "D:" }),
			),
			"UNKNOWN",
			{ reason: "image_file_not_known" },
		],
		[
			"a plain drive is UNKNOWN if the agent cannot ask which drives are image files",
			disk(values(encrypted, plain("D:")), values(), { error: "Oops" }),
			"UNKNOWN",
			{ reason: "query_failed" },
		],
		[
			"a plain drive fails on a Windows that knows no image files",
			disk(values(encrypted, plain("D:")), values(), NO_NAMESPACE),
			"FAIL",
			{ drive_d_encrypted: false },
		],
		[
			"encrypted drives pass whether or not the agent can ask about image files",
			disk(values(encrypted), values(), { error: "Oops" }),
			"PASS",
			{ data_volumes: 0 },
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
