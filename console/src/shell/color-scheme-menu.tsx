import { ActionIcon, Menu, useMantineColorScheme } from "@mantine/core";
import {
	IconBaselineDensityMedium,
	IconBaselineDensitySmall,
	IconCheck,
	IconDeviceDesktop,
	IconMoon,
	IconSun,
} from "@tabler/icons-react";
import { useDensity } from "./density.ts";

const SCHEMES = [
	{ scheme: "light", label: "Light", icon: IconSun },
	{ scheme: "dark", label: "Dark", icon: IconMoon },
	{ scheme: "auto", label: "System", icon: IconDeviceDesktop },
] as const;

const DENSITIES = [
	{
		density: "comfortable",
		label: "Comfortable",
		icon: IconBaselineDensityMedium,
	},
	{ density: "compact", label: "Compact", icon: IconBaselineDensitySmall },
] as const;

/** The choice between light and dark colors, and between the densities of the rows of lists. */
export function ColorSchemeMenu() {
	const [density, setDensity] = useDensity();
	const { colorScheme, setColorScheme } = useMantineColorScheme();
	const Current =
		SCHEMES.find(({ scheme }) => scheme === colorScheme)?.icon ?? IconSun;
	return (
		<Menu position="bottom-end">
			<Menu.Target>
				<ActionIcon
					variant="subtle"
					color="gray"
					c="var(--mantine-color-text)"
					size="lg"
					aria-label="Light or dark"
				>
					<Current size={18} aria-hidden />
				</ActionIcon>
			</Menu.Target>
			<Menu.Dropdown>
				{SCHEMES.map(({ scheme, label, icon: Shape }) => (
					<Menu.Item
						key={scheme}
						leftSection={<Shape size={16} aria-hidden />}
						rightSection={
							scheme === colorScheme && (
								<IconCheck size={16} aria-label="chosen" />
							)
						}
						onClick={() => setColorScheme(scheme)}
					>
						{label}
					</Menu.Item>
				))}
				<Menu.Divider />
				<Menu.Label>Rows of lists</Menu.Label>
				{DENSITIES.map(({ density: one, label, icon: Shape }) => (
					<Menu.Item
						key={one}
						leftSection={<Shape size={16} aria-hidden />}
						rightSection={
							one === density && <IconCheck size={16} aria-label="chosen" />
						}
						onClick={() => setDensity(one)}
					>
						{label}
					</Menu.Item>
				))}
			</Menu.Dropdown>
		</Menu>
	);
}
