import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Redlock: most of the servers, asked in turn, 50 ms each. */
public final class Redlock implements Locksim.Lock {
	private static final String DELETE =
			"if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end";
	private final Locksim.Config config;
	private final Socket[] sockets;
	private String value;
	private int n;

	private Redlock(Locksim.Config config) {
		this.config = config;
		sockets = new Socket[config.servers().size()];
	}

	public static void main(String[] args) throws Exception { Locksim.run(Redlock::new); }

	private boolean ask(int i, String text) {
		try {
			if (sockets[i] == null) {
				String[] address = config.servers().get(i).split(":");
				sockets[i] = new Socket(address[0], Integer.parseInt(address[1]));
				sockets[i].setSoTimeout(50);
			}
			sockets[i].getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
			String answer = new BufferedReader(new InputStreamReader(sockets[i].getInputStream())).readLine();
			if (answer == null) {
				throw new IOException("closed");
			}
			return answer.equals("+OK") || answer.equals(":1");
		} catch (IOException e) { // an answer that comes later must not be taken for the next
			sockets[i] = null;
			return false;
		}
	}

	private boolean most(String... args) {
		StringBuilder b = new StringBuilder("*" + args.length + "\r\n");
		for (String a : args) {
			b.append("$" + a.length() + "\r\n" + a + "\r\n");
		}
		int votes = 0;
		for (int i = 0; i < sockets.length; i++) {
			votes += ask(i, b.toString()) ? 1 : 0;
		}
		return votes > sockets.length / 2;
	}

	public Locksim.Lease acquire(long wait) throws Exception {
		for (long first = System.nanoTime();;) {
			long begun = System.nanoTime(), ttl = config.ttlMillis();
			value = config.client() + ++n;
			if (most("SET", config.key(), value, "NX", "PX", String.valueOf(ttl))) {
				long left = ttl - ttl / 100 - 2 - (System.nanoTime() - begun) / 1_000_000;
				if (left > 0) {
					return new Locksim.Lease(value, 0, left);
				}
			}
			most("EVAL", DELETE, "1", config.key(), value);
			if (wait >= 0 && System.nanoTime() - first >= wait * 1_000_000) {
				throw new Locksim.Refused("somebody else holds it");
			}
			Thread.sleep(100);
		}
	}

	public void release() throws Exception {
		if (!most("EVAL", DELETE, "1", config.key(), value)) {
			throw new Locksim.Refused("it was not its own");
		}
	}
}
