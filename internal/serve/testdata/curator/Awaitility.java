package org.awaitility;

import java.util.concurrent.Callable;

/** What Curator's tests use of a library that Debian has no package of. */
public class Awaitility {
    public static Awaitility await() {
        return new Awaitility();
    }

    public static Awaitility await(String what) {
        return new Awaitility();
    }

    public Awaitility pollInterval(Object interval) {
        return this;
    }

    public Awaitility pollInSameThread() {
        return this;
    }

    public void until(Callable<Boolean> condition) {
        try {
            while (!condition.call()) {
                Thread.sleep(10);
            }
        } catch (Exception e) {
            throw new RuntimeException(e);
        }
    }
}
