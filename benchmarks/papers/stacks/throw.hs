-- An exception is raised in another thread again and again; see throw.scm.
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.IORef
import System.Environment

data Wake = Wake deriving Show

instance Exception Wake

main :: IO ()
main = runInUnboundThread $ do
  arguments <- getArgs
  let rounds = case arguments of { (n : _) -> read n; [] -> 1000 } :: Int
  ready <- newEmptyMVar
  never <- newEmptyMVar :: IO (MVar ())
  caught <- newIORef (0 :: Int)
  let victim = do
        handle (\Wake -> modifyIORef' caught (+ 1)) (putMVar ready () >> takeMVar never)
        n <- readIORef caught
        if n < rounds then victim else putMVar ready ()
  thread <- forkIO victim
  replicateM_ rounds (takeMVar ready >> throwTo thread Wake)
  takeMVar ready
  readIORef caught >>= print
  putMVar never ()
