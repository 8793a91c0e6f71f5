import { Center, Paper, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { Brand } from "../../shell/brand.tsx";

/** The frame around the pages for visitors who are not signed in. */
export function Card({ children }: { children: ReactNode }) {
	return (
		<Center component="main" mih="100dvh" p="md">
			<Stack w="100%" maw={400}>
				<Brand size={28} isAlone />
				<Paper withBorder p="lg">
					{children}
				</Paper>
			</Stack>
		</Center>
	);
}
