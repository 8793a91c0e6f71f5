import { expect, test } from "vitest";
import {
	productOfWindowsProcess,
	productsBy,
} from "../../agent/checks/remote-control-products.ts";

const PARTS = ["services", "windows", "mac", "unix"] as const;

test("every product has a name that evidence may contain, and no name stands twice", () => {
	for (const part of PARTS) {
		const products = productsBy(part);
		expect(products.size).toBeGreaterThan(6);
		for (const name of products.values()) expect(name).toMatch(/^[a-z_]+$/);
		const names = [...products.keys()].map((name) => name.toLowerCase());
		expect(new Set(names).size).toBe(names.length);
	}
});

test("names fit where they are compared: in PowerShell's quotes, and in 15 characters on Linux", () => {
	for (const part of ["services", "windows"] as const) {
		for (const name of productsBy(part).keys()) {
			expect(name).toMatch(/^[A-Za-z0-9_. ]+\*?$/);
		}
	}
	for (const name of productsBy("unix").keys()) {
		expect(name.length).toBeLessThanOrEqual(15);
	}
});

test.each([
	["ScreenConnect.ClientService", "screenconnect"],
	["SRSERVICE", "splashtop"],
	["TeamViewer_Service", "teamviewer"],
	["remoting_host", "chrome_remote_desktop"],
	["MeshAgent", "meshcentral"],
	["nxd", "nomachine"],
	// Programs with which somebody at this device controls another one.
	["ScreenConnect.WindowsClient", undefined],
	["vncviewer", undefined],
	["nxplayer", undefined],
	["mstsc", undefined],
])("the process %s on Windows belongs to %s", (process, product) => {
	expect(productOfWindowsProcess(process)).toBe(product);
});
