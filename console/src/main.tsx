import "@mantine/core/styles.css";
import "@mantine/notifications/styles.css";
import "./fonts/inter.css";
import "./styles.css";
import { MantineProvider } from "@mantine/core";
import { Notifications } from "@mantine/notifications";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { INPUT_EVENTS, noteInput } from "./attendance.ts";
import { styleNonce } from "./nonce.ts";
import { listenToPickers } from "./parts/pickers.ts";
import { queryClient } from "./queries.ts";
import { router } from "./router.tsx";
import { cssVariables, theme } from "./theme.ts";

const root = document.getElementById("root");
if (!root) throw new Error("the page has no element with the id root");
listenToPickers();
for (const type of INPUT_EVENTS) {
	addEventListener(type, noteInput, { passive: true, capture: true });
}

createRoot(root).render(
	<StrictMode>
		<MantineProvider
			theme={theme}
			cssVariablesResolver={cssVariables}
			defaultColorScheme="auto"
			getStyleNonce={() => styleNonce}
		>
			<QueryClientProvider client={queryClient}>
				<Notifications position="bottom-center" autoClose={5000} />
				<RouterProvider router={router} />
			</QueryClientProvider>
		</MantineProvider>
	</StrictMode>,
);
